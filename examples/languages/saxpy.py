"""saxpy.py - a Python function, checked and timed through cffi. libgpumb.so is the header's
implementation; another path to it is the environment's GPUMB_LIBRARY."""
import os
import pathlib
import subprocess
import sys

import cffi

here = pathlib.Path(__file__).parent
ffi = cffi.FFI()
ffi.cdef(subprocess.check_output([here / "declarations.sh"], text=True))
lib = ffi.dlopen(os.environ.get("GPUMB_LIBRARY", "./libgpumb.so"))

x, y, z = [1.0] * 10000, [3.0] * 10000, []
raised = []


def keep(kind, exception, traceback):
    raised.append(exception)  # no exception may pass through C


@ffi.callback("int(gpumb *, void *)", error=1, onerror=keep)
def body(g, user):  # as often as it takes
    z[:] = [2 * a + b for a, b in zip(x, y)]
    return 0


@ffi.callback("int(gpumb *, void *)", error=0, onerror=keep)
def check(g, user):  # after the first run, and after the last; 1: right
    right = z == [5.0] * len(x)
    z.clear()
    return right


words = [ffi.new("char[]", word.encode()) for word in sys.argv]
argv = ffi.new("char *[]", [*words, ffi.NULL])  # kept until gpumb_close()
g = lib.gpumb_open(len(words), argv)
lib.gpumb_set_verify(g, check, ffi.NULL)
lib.gpumb_set_elements(g, len(x))
lib.gpumb_run_region(g, b"saxpy", body, ffi.NULL)
code = lib.gpumb_close(g)
if raised:
    raise raised[0]
sys.exit(code)
