#!/bin/sh
# Runs tests, which are built, where users are and developers are not: in a path with blanks and
# umlauts, with such a TMPDIR, as a user who is not root, with umask 077, in German. What can't be
# had here is skipped by name, and the rest is tried without it.
#     tests/elsewhere.sh PROGRAM|SCRIPT.sh ...
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh
home="$tmp/Prüfung anderswo" german=de_DE.UTF-8
tree="$home/Grüße aus dem Büro" folder="$home/für später"
mkdir -p "$tree/build" "$folder" "$tmp/Prüfung"
echo precious >"$tmp/Prüfung/file" # where a name leads that is split

tar -cf - --exclude=./.git --exclude=./build --exclude=./results . | tar -xf - -C "$tree"
for built in build/cpu build/fleet "${TEST_BUILD:-build/cpu}"; do
    [ ! -e "$built" ] || [ -e "$tree/$built" ] || cp -R "$built" "$tree/build/"
done

as_user=
if [ "$(id -u)" -ne 0 ]; then
    pass
elif ! command -v setpriv >/dev/null; then
    skip "another user: no setpriv"
else
    as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chown -R 65534:65534 "$tmp"
    if $as_user test -w "$tree"; then
        pass
    else
        skip "another user: can't reach $tmp"
        as_user=
    fi
fi

decimal_point() { LC_ALL=$german locale decimal_point 2>/dev/null; }
if [ "$(decimal_point)" != , ] && localedef -i de_DE -f UTF-8 "$home/$german" 2>/dev/null; then
    export LOCPATH="$home"
fi
if [ "$(decimal_point)" = , ]; then
    pass
else
    skip "German: no $german, nor what localedef makes it of (Debian: locales)"
    german=C
fi

# shellcheck disable=SC2016 # the inner shell's
$as_user env HOME="$home" TMPDIR="$folder" LC_ALL=$german sh -c \
    'umask 077; cd "$1" && shift && exec sh tests/run.sh "$@"' sh "$tree" "$@" >"$tmp/said" 2>&1
sed '$d' "$tmp/said"
count "tests, as above" tail -n 1 "$tmp/said"
check "a test has removed what is not its own" test -s "$tmp/Prüfung/file"
check "a test has left files in TMPDIR" test -z "$(ls -A "$folder")"
finish
