#!/usr/bin/env python3
"""grade.py - runs a grader, such as 08_grader.cu, and says whether what it grades has met what is
expected. What the grader prints and returns is not believed: its JSON alone counts, read from a
pipe of ours, complete, once, and without a contradiction. Exit code 0: met, 1: not met, 2: usage.

    grade.py ./grader --expect 'mine>=0.9*reference'
    grade.py --json grade.json --seconds 300 ./grader --expect 'mine>=0.9*reference' --budget 5
"""
import argparse
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time

MOST_JSON = 16 << 20   # bytes that are read: more is refused
MOST_OUTPUT = 1 << 20  # bytes that are shown: more is left out


class NotMet(Exception):
    pass


def demand(right, why):
    if not right:
        raise NotMet(why)


def guard():
    """What a graded process leaves behind becomes a child of ours, in whatever session it is; and
    it can't trace us, or write to our memory or our output by /proc, unless it is root's."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux's
    if prctl:
        prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        prctl(4, 0, 0, 0, 0)   # PR_SET_DUMPABLE


def children():
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc") if os.path.isdir("/proc") else []):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                parent = file.read().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == os.getpid():
            found.append(int(pid))
    return found


def end_children(seconds=5):
    """And theirs, which become ours."""
    end = time.monotonic() + seconds
    while (left := children()) and time.monotonic() < end:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:  # it is another user's, or gone
                pass


def run(command, seconds):
    """The grader's exit code, negative for a signal, and what it has written to our pipe."""
    ours, its = os.pipe()
    with subprocess.Popen(command + ["--strict", "--json", f"/dev/fd/{its}"], pass_fds=[its],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as child:
        os.close(its)
        end = time.monotonic() + seconds
        try:
            text = listen(child, ours, end)
            child.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired as late:
            raise NotMet(f"not done within {seconds:g} s") from late
        finally:
            os.close(ours)
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return child.returncode, text


def listen(child, ours, end):
    """What comes through our pipe, until both pipes are closed or the child is done."""
    text, shown = b"", 0
    with selectors.DefaultSelector() as waiting:
        for fd in (ours, child.stdout.fileno()):
            waiting.register(fd, selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < end:
            ended = child.poll() is not None  # others may hold its pipes for ever
            ready = waiting.select(0 if ended else 0.05)
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                if not part:
                    waiting.unregister(key.fd)
                elif key.fd == ours:
                    text += part
                    demand(len(text) <= MOST_JSON, "its JSON is too long")
                elif shown < MOST_OUTPUT:
                    sys.stderr.buffer.write(part[:MOST_OUTPUT - shown])
                    shown += len(part)
            if ended and not ready:
                break
    sys.stderr.flush()
    return text


def once(pairs):
    names = dict(pairs)
    demand(len(names) == len(pairs), "its JSON has a name twice")
    return names


def refuse(text):
    raise NotMet(f"its JSON has {text}")


def parse(text):
    demand(text, "it has written no JSON")
    try:
        return json.loads(text.decode(), object_pairs_hook=once, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise NotMet(f"its JSON is not one complete document: {error}") from error


def number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < 1e300


def plain(text):
    """What it has written can't add a line, nor move a terminal's cursor."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def judge(rows, settings, expectations, expected):
    demand(settings["strict"] == "yes", "it did not run with --strict")
    demand(settings["seed"] == 0, "it ran with a --seed: inputs could be foreseen")
    demand(rows, "it has no rows")
    for row in rows:
        name = f"{row['bench']}/{row['kernel']}"
        demand(row["status"] == "ok", f"{name}: {row['status']}: {row['reason']}")
        demand(row["verified"] == "yes", f"{name}: not verified")
        flags = (row["flags"] or "").split(";")
        for flag in ("known-seed", "replayed", "unverified"):
            demand(flag not in flags, f"{name}: {flag}")
        demand(number(row["median_s"]) and row["median_s"] > 0 and row["samples"] > 0,
               f"{name}: it has no time")
    demand([e["expect"] for e in expectations] == expected,
           "its JSON answers to other expectations")
    names = {f"{row['bench']}/{row['kernel']}" for row in rows}
    for e in expectations:
        demand(e["verdict"] == "met", f"{e['expect']}: {e['verdict']}: {e['reason']}")
        least = ">=" in e["expect"]
        bound = e["lo" if least else "hi"]  # the other may be unknown
        demand(number(bound) and number(e["limit"]) and number(e["value"]),
               f"{e['expect']}: met, without figures")
        demand(e["limit"] <= bound <= e["value"] if least else e["value"] <= bound <= e["limit"],
               f"{e['expect']}: met, but its figures say something else")
        demand(any(e["reason"].startswith(name) for name in names),
               f"{e['expect']}: decided by a row that is not there")


def grade(options):
    expect = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    expect.add_argument("--expect", action="append", default=[])
    expected = expect.parse_known_args(options.program[1:])[0].expect
    if not expected:
        print("grade: say --expect 'ROWS>=LIMIT' behind the program", file=sys.stderr)
        return 2
    try:
        guard()
        try:
            code, text = run(options.program, options.seconds)
        finally:
            end_children()
        if options.json:
            with open(options.json, "wb") as file:
                file.write(text)
        demand(code >= 0, f"it was ended by signal {-code}")
        document = parse(text)
        try:
            judge(document["rows"], document["settings"], document["expectations"], expected)
        except (KeyError, TypeError, AttributeError) as error:
            raise NotMet(f"its JSON lacks something: {error!r}") from error
        demand(code == 0, f"it ended with exit code {code}")
    except NotMet as why:
        print(f"grade: not met: {plain(why)}")
        return 1
    except OSError as error:
        print(f"grade: {error}", file=sys.stderr)
        return 2
    for e in document["expectations"]:
        print(f"grade: met: {e['expect']}: {e['value']:.4g}, limit {e['limit']:.4g}")
    return 0


def main():
    parser = argparse.ArgumentParser(prog="grade.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="keep what came through the pipe")
    parser.add_argument("--seconds", type=float, default=600, help="that it may take; 600")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="and its options")
    options = parser.parse_args()
    if not options.program:
        parser.error("which program?")
    return grade(options)


if __name__ == "__main__":
    sys.exit(main())
