#!/bin/sh
# test_python.sh - the Python module: rows, checks, exceptions, sweeps, programs, and how it finds
# and compiles its library.
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

if has_python; then
    # shellcheck disable=SC2086  # words in $CXX are meant to split
    check "libgpumb.so" ${CXX:-c++} -std=c++17 -O1 -pthread -fPIC -shared -I. -x c++ \
        -DGPUMB_IMPLEMENTATION gpumb.h -o "$tmp/libgpumb.so"
    GPUMB_LIBRARY=$tmp/libgpumb.so
    export GPUMB_LIBRARY
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONDONTWRITEBYTECODE
    count "tests/python_module.py" python3 tests/python_module.py

    # the package, which works where nothing else of the clone is
    mkdir "$tmp/moved" "$tmp/packed" "$tmp/unpacked"
    check "no archive" sh -c "cd examples/python &&
        python3 -c 'import package, sys; package.build_sdist(sys.argv[1])' '$tmp/packed'"
    check "no archive to unpack" tar -xzf "$tmp"/packed/gpumb-*.tar.gz -C "$tmp/moved"
    check "no wheel of the archive" sh -c "cd '$tmp'/moved/gpumb-* &&
        python3 -c 'import package, sys; package.build_wheel(sys.argv[1])' '$tmp/packed'"
    check "no wheel to unpack" python3 -m zipfile -e "$tmp"/packed/gpumb-*.whl "$tmp/unpacked"
    rm -r "$tmp/moved"
    mkdir "$tmp/alone" # as pip before 21.3 has it
    cp examples/python/package.py "$tmp/alone"
    check "no header is not said" sh -c "cd '$tmp/alone' &&
        python3 -c 'import package' 2>&1 | grep -q '^no gpumb.h in .*: pip before 21.3 '"
    check "it has not the header" cmp gpumb.h "$tmp/unpacked/gpumb/gpumb.h"
    check "it is not typed" test -e "$tmp/unpacked/gpumb/py.typed"
    check "the record is not of its files" python3 - "$tmp/unpacked" <<'EOF'
import base64, csv, hashlib, pathlib, sys

top = pathlib.Path(sys.argv[1])
(record,) = top.glob("*.dist-info/RECORD")
rows = list(csv.reader(record.open()))
files = sorted(str(p.relative_to(top)) for p in top.rglob("*") if p.is_file())
assert sorted(row[0] for row in rows) == files, (rows, files)
for name, digest, size in rows:
    data = (top / name).read_bytes()
    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    if name != str(record.relative_to(top)):
        assert (digest, size) == (f"sha256={found}", str(len(data))), name
EOF
    check "the package can't be used" env PYTHONPATH="$tmp/unpacked" python3 -c \
        'import gpumb, sys; sys.exit(not gpumb.time(lambda: None, budget_s=0.1, warmup_s=-1).ok)'

    if python3 -m pip --version >/dev/null 2>&1; then
        check "pip install examples/python" python3 -m pip install -q --no-index --no-cache-dir \
            --target "$tmp/by pip" examples/python
        check "pip has installed something else" cmp "$tmp/unpacked/gpumb/__init__.py" \
            "$tmp/by pip/gpumb/__init__.py"
    else
        skip "no pip for python3"
    fi

    if python3 -c 'import ipykernel, nbclient' 2>/dev/null; then
        check "timing.ipynb" python3 - examples/python <<'EOF'
import sys, nbclient, nbformat

folder = sys.argv[1]
notebook = nbformat.read(f"{folder}/timing.ipynb", 4)
nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
shown = [out for cell in notebook.cells for out in cell.get("outputs", [])]
assert any("<table>" in out.get("data", {}).get("text/html", "") for out in shown), shown
assert any("of once: " in out.get("data", {}).get("text/plain", "") for out in shown), shown
EOF
    else
        skip "timing.ipynb: no nbclient and ipykernel for python3"
    fi
else
    skip "no Python 3.9"
fi

finish
