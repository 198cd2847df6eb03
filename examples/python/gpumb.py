"""gpumb for Python: times any callable by the engine of gpumb.h, which is compiled once.

    import gpumb
    print(gpumb.time(lambda: sorted(data)))
    print(*gpumb.compare({"sort": mine, "sorted": theirs}), sep="\\n")

Needs Python 3.9 and a compiler: nvcc or hipcc where there is a GPU, else a C++ compiler. See the
README beside this file.
"""

import atexit
import contextlib
import ctypes
import fcntl
import functools
import glob
import hashlib
import html
import inspect
import math
import operator
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
from ctypes import c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from typing import (
    Any,
    Callable,
    ContextManager,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
)

__all__ = ["Context", "Error", "Row", "Stream", "compare", "do_bench", "open", "time"]


class Error(Exception):
    """What the library says, in a line."""


# ---- the library ---------------------------------------------------------------------------------

_HERE = pathlib.Path(__file__).resolve().parent


def _header() -> pathlib.Path:
    for folder in (_HERE, _HERE.parent.parent):
        if (folder / "gpumb.h").is_file():
            return folder / "gpumb.h"
    raise Error(f"no gpumb.h beside {__file__} or two folders above")


def _find(names: Sequence[str], *elsewhere: str) -> Optional[str]:
    found = [shutil.which(name) for name in names]
    for pattern in elsewhere:
        found += sorted(glob.glob(pattern))
    return next((path for path in found if path), None)


# What is there where a GPU of NVIDIA's is: on a computer, in WSL, on a Jetson.
_NVIDIA = ("/dev/nvidiactl", "/dev/nvidia0", "/usr/lib/wsl/lib/libcuda.so.1", "/dev/nvhost-gpu")


def _compiler() -> List[str]:
    """The command that compiles the header, but for its files; GPUMB_BACKEND chooses."""
    wheels = [os.path.join(folder, "nvidia/*/bin/nvcc") for folder in sys.path if folder]
    shared = ["-O3", "-std=c++17", "-shared", "-DGPUMB_IMPLEMENTATION"]
    known = {
        "cuda": (
            lambda: _find(["nvcc"], "/usr/local/cuda/bin/nvcc", *wheels),
            [*shared, "-arch=native", "-Xcompiler=-fPIC,-pthread", "-x", "cu"],
            "nvcc (in PATH, /usr/local/cuda or the nvidia-cuda-nvcc wheel)",
        ),
        "hip": (
            lambda: _find(["hipcc"], "/opt/rocm/bin/hipcc"),
            [*shared, "-fPIC", "-x", "hip"],
            "hipcc (in PATH or /opt/rocm)",
        ),
        "cpu": (
            lambda: _find([os.environ.get("CXX", "g++"), "c++", "clang++"]),
            [*shared, "-fPIC", "-pthread", "-x", "c++"],
            "g++, c++ and clang++ (in PATH, or CXX)",
        ),
    }
    wanted = os.environ.get("GPUMB_BACKEND")
    if not wanted:
        nvidia = any(map(os.path.exists, _NVIDIA))
        wanted = "cuda" if nvidia else "hip" if os.path.exists("/dev/kfd") else "cpu"
    if wanted not in known:
        raise Error(f"GPUMB_BACKEND={wanted}: must be cuda, hip or cpu")
    find, options, places = known[wanted]
    compiler = find()
    if not compiler:
        other = "" if wanted == "cpu" else "; GPUMB_BACKEND=cpu measures on the CPU"
        raise Error(f"no compiler for {wanted}: looked for {places}{other}")
    return [compiler, *options]


def _output(*command: str) -> str:
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return ""


def _built() -> pathlib.Path:
    """The compiled header, from the cache where that has it."""
    header, command = _header(), _compiler()
    key = hashlib.sha256(header.read_bytes())
    key.update("\0".join(command).encode() + _output(command[0], "--version").encode())
    if "-arch=native" in command:
        key.update(_output("nvidia-smi", "--query-gpu=compute_cap", "--format=csv").encode())
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "gpumb"
    library = cache / f"{key.hexdigest()[:32]}.so"
    if library.exists():  # all of it, in a folder that need not be writable
        return library
    try:
        cache.mkdir(parents=True, exist_ok=True)
        file = (cache / f"{library.stem}.lock").open("w")
    except OSError as error:
        why = f"{error.strerror}: XDG_CACHE_HOME names a folder where it can be"
        raise Error(f"no library in {cache}: {why}") from None
    with file as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one compilation at a time
        if library.exists():
            return library
        print(f"gpumb: compiles gpumb.h once, by {command[0]}, into {library}", file=sys.stderr)
        part = library.with_suffix(".part")
        done = subprocess.run(
            [*command, str(header), "-o", str(part)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Error(f"{command[0]} can't compile {header}:\n{done.stderr[-2000:]}")
        part.replace(library)
    return library


class _Settings(ctypes.Structure):
    _fields_ = [("size", c_size_t)]
    _fields_ += [(name, c_double) for name in ("precision", "budget_s", "warmup_s")]
    _fields_ += [(name, c_uint64) for name in ("min_samples", "max_samples", "seed")]
    _fields_ += [("peak_gbps", c_double)]
    _fields_ += [(n, c_int) for n in ("device", "full", "no_color", "quiet", "cold", "shuffle")]
    _fields_ += [(n, c_char_p) for n in ("csv", "json", "markdown", "gbench", "compare_values")]
    _fields_ += [("raw", c_int), ("resume", c_int), ("replay", c_char_p), ("compare", c_char_p)]
    _fields_ += [("delta", c_double), ("spread", c_double)]
    _fields_ += [(name, c_int) for name in ("processes", "fail_on_regression", "profile")]
    _fields_ += [("counters", c_char_p), ("devices", c_char_p)]
    _fields_ += [(name, c_int) for name in ("together", "fail_on_outlier", "strict")]
    _fields_ += [("least_s", c_double), ("capturable", c_int), ("no_signals", c_int)]


class _Device(ctypes.Structure):  # how it begins
    _fields_ = [("name", ctypes.c_char * 128), ("backend", ctypes.c_char * 8)]
    _fields_ += [("arch", ctypes.c_char * 32), ("ordinal", c_int)]


_Call = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_Hook = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
_Log = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)
_said = threading.local()  # .line: the last one of this thread
_TIMINGS = ("auto", "event", "batch", "graph", "host", "profiler")


@_Log
def _log(line: bytes, _: Any) -> None:
    _said.line = line.decode(errors="replace")
    print(_said.line, file=sys.stderr, flush=True)


def _declare(lib: ctypes.CDLL) -> None:
    g, text, size = c_void_p, c_char_p, c_size_t
    for name, result, arguments in (
        ("gpumb_set_log", None, [_Log, c_void_p]),
        ("gpumb_settings_init", None, [c_void_p, size]),
        ("gpumb_open", g, [c_int, c_void_p]),
        ("gpumb_open_settings", g, [text, c_void_p]),
        ("gpumb_ok", c_int, [g]),
        ("gpumb_close", c_int, [g]),
        ("gpumb_abandon", None, [g]),
        ("gpumb_get_device", ctypes.POINTER(_Device), [g]),
        ("gpumb_stream", c_void_p, [g]),
        ("gpumb_set_bytes", None, [g, c_double]),
        ("gpumb_set_flop", None, [g, c_double]),
        ("gpumb_set_elements", None, [g, c_double]),
        ("gpumb_set_value", None, [g, text, c_double]),
        ("gpumb_set_timing", None, [g, c_int]),
        ("gpumb_set_cache", None, [g, c_int]),
        ("gpumb_set_capturable", None, [g, c_int]),
        ("gpumb_set_poll", None, [g, _Call, c_void_p]),
        ("gpumb_wrap", c_void_p, [g, c_void_p, c_uint64]),
        ("gpumb_free", None, [g, c_void_p]),
        ("gpumb_set_output", None, [g, c_void_p]),
        ("gpumb_set_verify", None, [g, _Call, c_void_p]),
        ("gpumb_set_reset", None, [g, _Hook, c_void_p]),
        ("gpumb_skip_text", None, [g, text]),
        ("gpumb_reason_text", None, [g, text]),
        ("gpumb_note_text", None, [g, text]),
        ("gpumb_run_region", c_int, [g, text, _Call, c_void_p]),
        ("gpumb_run_interleave", c_int, [g, _Call, c_void_p]),
        ("gpumb_row_count", size, [g]),
        ("gpumb_column_name", text, [g, size]),
        ("gpumb_row_text", c_int, [g, size, text, c_void_p, size]),
        ("gpumb_row_line", c_int, [g, size, c_void_p, size]),
        ("gpumb_row_value", c_double, [g, size, text]),
        ("gpumb_row_samples", ctypes.POINTER(c_double), [g, size, ctypes.POINTER(c_uint64)]),
        # what the macros of sweeps call: a loop of Python is one as well
        ("gpumbi_sweep_list", c_void_p, [g, text, c_void_p, size]),
        ("gpumbi_sweep_reals", c_void_p, [g, text, c_void_p, size]),
        ("gpumbi_sweep_names", c_void_p, [g, text, c_void_p, size]),
        ("gpumbi_sweep_next", c_int, [c_void_p]),
        ("gpumbi_sweep_value", c_int64, [c_void_p]),
        ("gpumbi_sweep_real", c_double, [c_void_p]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments


_lib: Optional[ctypes.CDLL] = None
_loading = threading.Lock()


def _library() -> ctypes.CDLL:
    """The library that GPUMB_LIBRARY names, or the compiled header."""
    global _lib
    with _loading:
        if not _lib:
            path = os.environ.get("GPUMB_LIBRARY") or _built()
            try:
                lib = ctypes.CDLL(str(path))
                _declare(lib)
            except (OSError, AttributeError) as error:
                raise Error(f"{path} can't be loaded: {error}") from None
            lib.gpumb_set_log(_log, None)
            # contexts that are left open are closed when Python has gone
            atexit.register(lib.gpumb_set_log, _Log(), None)
            _lib = lib
    return _lib


# ---- rows ----------------------------------------------------------------------------------------


class Row(Mapping[str, Any]):
    """A row as CSV files have it, by the names of their columns; None where a cell is empty.
    It stays when its context is closed."""

    def __init__(self, cells: Dict[str, Any], line: str, samples: Sequence[float]):
        self._cells, self._line, self.samples = cells, line, samples

    def __getitem__(self, column: str) -> Any:
        return self._cells[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def ok(self) -> bool:
        return self["status"] == "ok"

    @property
    def median(self) -> float:
        """Seconds of one run; not a number where the row is not ok."""
        return self["median_s"] if self["median_s"] is not None else float("nan")

    @property
    def interval(self) -> Tuple[Optional[float], Optional[float]]:
        """That of the median, 95 %; None for an end that is unknown."""
        return self["ci_lo_s"] or None, self["ci_hi_s"] or None

    @property
    def meaning(self) -> Optional[str]:
        """Of the time: "span" of the kernels alone, "interval" between two runs, or "latency"."""
        return self["meaning"]

    @property
    def flags(self) -> List[str]:
        return self["flags"].split(";") if self["flags"] else []

    def __repr__(self) -> str:
        compared = ""
        if self["ratio"] is not None:
            lo, hi = self["ratio_lo"], self["ratio_hi"]
            low = f"{lo:.4g}" if lo else "?"  # as in the table
            within = f" ({low} ... {hi:.4g})" if hi else ""
            with_what, verdict = self["compared_with"], self["verdict"]
            compared = f", {self['ratio']:.4g}{within} of {with_what}: {verdict}"
        return self._line + compared

    def _repr_html_(self) -> str:
        return Rows([self])._repr_html_()


class Rows(List[Row]):
    """Rows: a line each, and in a notebook a table."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        shown = ["kernel", "status", "reason", "median_s", "ci_lo_s", "ci_hi_s", "meaning", "gbps"]
        shown += ["gflops", "elements_per_s", "ratio", "ratio_lo", "ratio_hi", "verdict", "flags"]
        shown = [name for name in shown if any(row[name] not in (None, "") for row in self)]
        lines = [[f"<th>{name}</th>" for name in shown]]
        for row in self:
            cells = ["" if row[name] is None else row[name] for name in shown]
            cells = ["?" if "_lo" in n and c == 0 else c for n, c in zip(shown, cells)]
            text = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells)
            lines.append([f"<td>{html.escape(cell)}</td>" for cell in text])
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in map(''.join, lines))}</table>"


def _line(error: BaseException) -> bytes:
    """For a row: which exception, and its first line, which is the second of NumPy's."""
    text = (str(error).strip().splitlines() or [""])[0]
    name = type(error).__name__
    return (f"{name}: {text}" if text else name).encode(errors="replace")


def _encoded(text: str) -> bytes:
    """For C, where a text ends at its first NUL."""
    if not isinstance(text, str) or "\0" in text:
        raise TypeError(f"{text!r}: must be a text without a NUL")
    return text.encode()


def _cell(text: str, value: float) -> Union[None, int, float, str]:
    """What C has as a number is one; of names of an axis that looks like numbers it has indices."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            if math.isclose(kind(text), value, rel_tol=1e-9):
                return kind(text)
    return text or None


# ---- contexts ------------------------------------------------------------------------------------


class Stream(int):
    """A cudaStream_t or hipStream_t: a number, as numba.cuda.external_stream() takes it, which
    cuda.core takes as it is."""

    def __cuda_stream__(self) -> Tuple[int, int]:
        return 0, int(self)


class _Pool:
    """In a `with` block, what PyTorch allocates on the current stream comes from memory that nobody
    else gets, up to close(): a graph goes on writing to what was freed while it was captured."""

    def __init__(self, torch: Any, device: int):
        self._c, self._of = torch._C, (device, torch.cuda.graph_pool_handle())
        self._c._cuda_beginAllocateCurrentStreamToPool(*self._of)  # lives until it is released
        self._c._cuda_endAllocateToPool(*self._of)

    def __enter__(self) -> None:
        self._c._cuda_beginAllocateCurrentStreamToPool(*self._of)

    def __exit__(self, *_: Any) -> None:
        self._c._cuda_endAllocateToPool(*self._of)
        self._c._cuda_releasePool(*self._of)

    def close(self) -> None:
        self._c._cuda_releasePool(*self._of)


def _pool_of(stacked: contextlib.ExitStack, torch: Any, device: int) -> "_Pool":
    return stacked.enter_context(contextlib.closing(_Pool(torch, device)))


def _current_device() -> int:
    """The thread's, of which the program's framework knows; else the first."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if os.environ.get("GPUMB_BACKEND") == "cpu":
        return 0
    if torch and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return int(cupy.cuda.runtime.getDevice()) if cupy and cupy.is_available() else 0


def _on_stream(
    stacked: contextlib.ExitStack, stream: Stream, device: int
) -> Tuple[bool, Callable[[], ContextManager]]:
    """Makes the context's stream that of the frameworks which the program has imported. Returns
    whether a capture of it is safe, and what makes a region's pool. CuPy's keeps what was freed for
    its stream."""
    captures = False
    pool: Callable[[], ContextManager] = contextlib.nullcontext
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if cupy and cupy.is_available():
        if hasattr(cupy.cuda.Stream, "from_external"):
            stacked.enter_context(cupy.cuda.Stream.from_external(stream))
        else:
            stacked.enter_context(cupy.cuda.ExternalStream(int(stream), device_id=device))
        captures = True
    if torch and torch.cuda.is_available():
        external = torch.cuda.ExternalStream(int(stream), device=device)
        stacked.enter_context(torch.cuda.stream(external))
        captures = hasattr(torch._C, "_cuda_beginAllocateCurrentStreamToPool")
        if captures:
            pool = functools.partial(_pool_of, stacked, torch, device)
    return captures, pool


def _takes_stream(fn: Callable[..., Any]) -> bool:
    """Whether it has to be called as fn(stream)."""
    with contextlib.suppress(TypeError, ValueError):  # some have no signature
        first = next(iter(inspect.signature(fn).parameters.values()), None)
        return (
            first is not None
            and first.name == "stream"
            and first.default is first.empty
            and first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
        )
    return False


def _memory(array: Any) -> Tuple[int, int]:
    """The address and the bytes of an array, all of which it may write."""
    if hasattr(array, "data_ptr"):  # PyTorch's interface refuses bfloat16 and what has a gradient
        address, size = array.data_ptr(), array.numel() * array.element_size()
        dense, writable = array.is_contiguous(), True
    else:
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            interface = getattr(array, "__array_interface__", None)
        if interface is None:
            try:
                view = memoryview(array)
            except TypeError:
                raise TypeError(f"outputs: a {type(array).__name__} is no array") from None
            dense, writable, size = view.contiguous, not view.readonly, view.nbytes
            address = 0
            if dense and writable and size:
                address = ctypes.addressof(ctypes.c_char.from_buffer(view))
        else:
            address, read_only = interface["data"]
            element = re.fullmatch(r"[<>|=]([biufcSVUmM])(\d+)(\[.*\])?", interface["typestr"])
            if not element or "'|O'" in str(interface.get("descr")):  # objects are pointers
                kind = interface.get("descr", interface["typestr"])
                raise TypeError(f"outputs: an array of {kind}")
            size = step = int(element[2]) * (4 if element[1] == "U" else 1)
            for length in interface["shape"]:
                size *= length
            dense, writable = True, not read_only
            shape = zip(interface["shape"], interface.get("strides") or ())
            for stride, length in sorted((s, n) for n, s in shape if n > 1):
                dense = dense and stride == step
                step *= length
    if not dense or not writable:
        why = "is not contiguous" if not dense else "can't be written"
        raise ValueError(f"outputs: an array {why}")
    return address, size


class Context:
    """Measures callables. With `argv`, all options of the command line, a table on standard output
    and files; else quietly, by the members of gpumb_settings as keywords. To be used by the thread
    that has made it, in a `with` block or up to close()."""

    def __init__(self, argv: Optional[Sequence[str]] = None, **settings: Any):
        self._lib = _library()
        self._owner = threading.get_ident()
        self._raised: Optional[BaseException] = None
        self._in_body = self._captures = False
        self._pool: Callable[[], ContextManager] = contextlib.nullcontext
        self._kept: List[Any] = []  # what C points to, until close()
        self._buffers: List[int] = []  # the outputs of what is measured
        self._held: List[memoryview] = []  # the same, so that they stay where they are
        self._measures = False
        self.exit_code: Optional[int] = None
        _said.line = ""
        self._program = argv is not None
        if argv is not None:
            if isinstance(argv, (str, bytes)):
                raise TypeError("argv: must be a list of words, as sys.argv")
            if settings:
                raise TypeError("argv has options in it: leave the keywords out")
            words = [os.fsencode(word) for word in argv]
            c_argv = (c_char_p * (len(words) + 1))(*words)
            self._kept += [words, c_argv]
            self._g = self._lib.gpumb_open(len(words), c_argv)
            return
        c_settings = _Settings()
        self._lib.gpumb_settings_init(ctypes.byref(c_settings), ctypes.sizeof(c_settings))
        c_settings.quiet = c_settings.no_signals = c_settings.raw = 1
        known = {field[0]: field[1] for field in _Settings._fields_[1:]}  # not the size
        for name, value in {"device": _current_device(), **settings}.items():
            if name not in known:
                raise TypeError(f"{name}: is no setting; there are {', '.join(known)}")
            if known[name] is c_char_p and value is not None:
                value = os.fsencode(value)
                self._kept.append(value)
            setattr(c_settings, name, value)
            if known[name] in (c_int, c_uint64) and getattr(c_settings, name) != value:
                raise OverflowError(f"{name}={value!r}: must be in the range of {known[name]}")
        self._g = self._lib.gpumb_open_settings(b"python", ctypes.byref(c_settings))
        try:
            self._go_on()
        except Error:
            self.close()
            raise

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind and self.exit_code is None:
            self._lib.gpumb_abandon(self._context())
        self.close()

    def close(self) -> int:
        """Ends the files. Returns the exit code of the program, which is also in exit_code."""
        if self.exit_code is None:
            self.exit_code = self._lib.gpumb_close(self._idle())
            self._kept.clear()
        return self.exit_code or 0

    def _context(self) -> int:
        if self.exit_code is not None:
            raise Error("the context is closed")
        if threading.get_ident() != self._owner:
            raise Error("the context belongs to the thread that has made it")
        return self._g

    def _idle(self) -> int:
        g = self._context()
        if self._measures:
            raise Error("the context is measuring: a function that it calls can't use it for more")
        return g

    def _go_on(self) -> None:
        """Raises what has ended the context; a program has it in its exit code."""
        if not self._program and not self._lib.gpumb_ok(self._g):
            raise Error(_said.line or "gpumb: can't measure here")

    # ---- measuring ----

    def _body(self, fn: Callable[..., Any], given: tuple, failed: List[BaseException]) -> Any:
        def run(_g: int, _user: Any) -> int:
            try:
                self._in_body = True
                if not self._raised:
                    fn(*given)
            except Exception as error:  # may pass: that of a capture, which is run again without
                self._lib.gpumb_skip_text(self._g, _line(error))
                failed[:] = [error]
                return 1
            except BaseException as error:  # no exception may pass through C
                self._raised = self._raised or error
            finally:
                self._in_body = False
            if self._raised:
                self._lib.gpumb_skip_text(self._g, _line(self._raised))
            return 1 if self._raised else 0

        return _Call(run)

    def _check(self, check: Callable[[], Any]) -> Any:
        def run(_g: int, _user: Any) -> int:
            try:
                self._in_body = True
                right = check()
                return 1 if right is None or bool(right) else 0
            except AssertionError as error:
                self._lib.gpumb_reason_text(self._g, _line(error))
            except BaseException as error:
                self._raised = self._raised or error
                self._lib.gpumb_reason_text(self._g, _line(error))
            finally:
                self._in_body = False
            return 0

        return _Call(run)

    def _reset(self, reset: Callable[[], Any]) -> Any:
        def run(_g: int, _user: Any) -> None:
            try:
                self._in_body = True
                reset()
            except BaseException as error:
                self._raised = self._raised or error
                self._lib.gpumb_skip_text(self._g, _line(error))
            finally:
                self._in_body = False

        return _Hook(run)

    def _outputs(self, arrays: Sequence[Any]) -> List[int]:
        if not isinstance(arrays, (list, tuple)):
            raise TypeError("outputs: must be a list of arrays")
        memory = [_memory(array) for array in arrays]
        if len(memory) > 8:
            raise ValueError(f"outputs: {len(memory)} of them; there may be 8")
        wrapped = [self._lib.gpumb_wrap(self._g, *one) for one in memory if one[1]]
        buffers = [buffer for buffer in wrapped if buffer]  # none while a sweep enumerates
        self._buffers += buffers
        for array in arrays:
            with contextlib.suppress(TypeError, BufferError, ValueError):
                self._held.append(memoryview(array))
        return buffers

    def _region(
        self,
        name: str,
        fn: Any = None,
        *,
        bytes: Optional[float] = None,
        flop: Optional[float] = None,
        elements: Optional[float] = None,
        values: Optional[Mapping[str, float]] = None,
        check: Optional[Callable[[], Any]] = None,
        outputs: Sequence[Any] = (),
        reset: Optional[Callable[[], Any]] = None,
        timing: str = "auto",
        cold: Optional[bool] = None,
        **unknown: Any,
    ) -> Callable[[], int]:
        """What runs the region, and may be called again: all that is said of it has been looked at,
        and none of it passed on, which would say it of the region after it."""
        if unknown:
            known = inspect.signature(self._region).parameters
            about = ", ".join([*known][2:-1])
            raise TypeError(f"{', '.join(unknown)}: is no keyword nor setting; there are {about}")
        for each in (fn, check, reset):
            if each is not None and not callable(each) or fn is None:
                raise TypeError(f"{name}: {each!r} can't be called")
            if inspect.isgeneratorfunction(each) or inspect.iscoroutinefunction(each):
                raise TypeError(f"{name}: a call of {each!r} only makes a generator or a coroutine")
        if timing not in _TIMINGS:
            raise ValueError(f"timing={timing!r}: must be one of {', '.join(_TIMINGS)}")
        g, lib = self._context(), self._lib
        stated = (("bytes", bytes), ("flop", flop), ("elements", elements))
        numbers = [(what, float(number)) for what, number in stated if number is not None]
        own = [(_encoded(str(key)), float(value)) for key, value in (values or {}).items()]
        kernel, buffers = _encoded(name), self._outputs(outputs)
        given = (Stream(lib.gpumb_stream(g) or 0),) if _takes_stream(fn) else ()
        captures = int(self._captures or bool(given))
        pool = self._pool()
        failed: List[BaseException] = []
        body = self._body(fn, given, failed)
        checks = None if check is None else self._check(check)
        resets = None if reset is None else self._reset(reset)

        def run() -> int:
            for what, number in numbers:
                getattr(lib, f"gpumb_set_{what}")(g, number)
            for key, number in own:
                lib.gpumb_set_value(g, key, number)
            lib.gpumb_set_timing(g, _TIMINGS.index(timing))
            lib.gpumb_set_capturable(g, captures)
            if cold is not None:
                lib.gpumb_set_cache(g, int(cold))
            if checks is not None:
                lib.gpumb_set_verify(g, checks, None)
            if resets is not None:
                lib.gpumb_set_reset(g, resets, None)
            for buffer in buffers:
                lib.gpumb_set_output(g, buffer)
            with pool:
                code = lib.gpumb_run_region(g, kernel, body, None)
            if code and failed and not self._raised:
                self._raised = failed[0]
            return 1 if self._raised else 0

        return run

    @contextlib.contextmanager
    def _measuring(self) -> Iterator[None]:
        """Raises what a callable has raised, when C has returned."""
        g, lib, self._raised = self._idle(), self._lib, None
        device = lib.gpumb_get_device(g).contents
        with contextlib.ExitStack() as stacked:
            self._captures, self._pool = False, contextlib.nullcontext
            if device.backend in (b"cuda", b"hip") and lib.gpumb_ok(g):
                stream = Stream(lib.gpumb_stream(g) or 0)
                self._captures, self._pool = _on_stream(stacked, stream, device.ordinal)
            stacked.enter_context(self._interruptible())
            self._measures = True
            try:
                yield
            finally:
                for buffer in self._buffers:
                    lib.gpumb_free(g, buffer)
                self._buffers.clear()
                self._held.clear()
                self._measures = False
        if self._raised:
            error, self._raised = self._raised, None
            raise error

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C raises in a body, as always; within C it is kept until that asks. Programs with
        options leave it to C."""
        handler = signal.getsignal(signal.SIGINT)
        main = threading.current_thread() is threading.main_thread()
        if self._program or not main or not callable(handler):
            yield
            return

        def interrupted(number: int, frame: Any) -> None:
            try:
                handler(number, frame)
            except BaseException as error:
                self._raised = self._raised or error  # also where the body swallows it
                if self._in_body:
                    raise

        poll = _Call(lambda _g, _user: 1 if self._raised else 0)
        signal.signal(signal.SIGINT, interrupted)
        self._lib.gpumb_set_poll(self._g, poll, None)
        try:
            yield
        finally:
            self._lib.gpumb_set_poll(self._g, _Call(), None)
            signal.signal(signal.SIGINT, handler)

    def measure(self, name: str, fn: Callable[..., Any], **about: Any) -> Optional[Row]:
        """Times fn(), and returns its row; None while a sweep enumerates its configurations.
        A fn(stream) launches there; what PyTorch, Triton and CuPy launch goes there by itself.
        bytes, flop, elements: of one run. values: own columns, by name. check: after the first run
        and the last, returns whether the result is right (None: it is), or asserts that. outputs:
        contiguous arrays, overwritten with poison before the runs that are checked. reset: before
        each run, outside of its time. timing: "auto", "event", "batch", "graph", "host" or
        "profiler". cold: caches emptied before each run, or not. What fn raises comes out here."""
        before = self._lib.gpumb_row_count(self._idle())
        with self._measuring():
            self._region(name, fn, **about)()
        if self._lib.gpumb_row_count(self._g) > before:
            return self.row(before)
        self._go_on()
        return None

    def compare(self, functions: Mapping[str, Any], **about: Any) -> Rows:
        """Times these in turn and compares each with the first: see the columns ratio, ratio_lo,
        ratio_hi and verdict. A dict(fn=..., check=...) in place of a function has its own of what
        measure() takes; what else is given holds for all."""
        if not isinstance(functions, Mapping) or not 0 < len(functions) <= 16:
            raise TypeError("compare: takes a dict of up to 16 functions")
        before = self._lib.gpumb_row_count(self._idle())
        with self._measuring():
            lanes = []
            for name, fn in functions.items():
                own = fn if isinstance(fn, Mapping) else {"fn": fn}
                lanes.append(self._region(name, **{**about, **own}))
            body = _Call(lambda _g, _user: next((1 for lane in lanes if lane()), 0))
            self._lib.gpumb_run_interleave(self._g, body, None)
        rows = Rows(self.row(i) for i in range(before, self._lib.gpumb_row_count(self._g)))
        if not rows:
            self._go_on()
        return rows

    def sweep(self, axis: str, values: Sequence[Any]) -> Iterator[Any]:
        """An axis of the rows in its loop, of integers, of real numbers or of texts. A loop runs
        once before, to count its configurations: measure() then returns None. Don't leave one by
        break or return: that abandons its sweep."""
        g, lib, values = self._idle(), self._lib, list(values)
        with contextlib.suppress(TypeError):
            values = [operator.index(v) for v in values]
        array: ctypes.Array[Any]
        if all(isinstance(v, str) for v in values):
            array = (c_char_p * len(values))(*map(_encoded, values))
            begin, read = lib.gpumbi_sweep_names, lambda a: values[lib.gpumbi_sweep_value(a)]
        elif all(isinstance(v, int) for v in values):
            if not all(-(2**63) <= v < 2**63 for v in values):
                raise OverflowError(f"{axis}: a value has more than 64 bits")
            array = (c_int64 * len(values))(*values)
            begin, read = lib.gpumbi_sweep_list, lib.gpumbi_sweep_value
        else:
            array = (c_double * len(values))(*values)
            begin, read = lib.gpumbi_sweep_reals, lib.gpumbi_sweep_real
        if not axis:
            raise ValueError("an axis has a name")
        self._kept.append(array)
        at = begin(g, _encoded(axis), array, len(values))
        ended = False
        try:
            while lib.gpumbi_sweep_next(at):
                yield read(at)
            ended = True
            self._go_on()
        finally:
            if not ended and self.exit_code is None and threading.get_ident() == self._owner:
                lib.gpumb_abandon(g)

    def note(self, text: str) -> None:
        """A conclusion: a line below the table, and in the files."""
        self._lib.gpumb_note_text(self._context(), _encoded(text))

    # ---- rows ----

    def row(self, index: int) -> Row:
        g, lib = self._context(), self._lib
        if not 0 <= index < lib.gpumb_row_count(g):
            raise IndexError(f"row {index} of {lib.gpumb_row_count(g)}")
        cells, column, text = {}, 0, ctypes.create_string_buffer(5000)
        while (name := lib.gpumb_column_name(g, column)) is not None:
            lib.gpumb_row_text(g, index, name, text, len(text))
            cell = text.value.decode(errors="replace")
            named = name in (b"bench", b"kernel", b"reason", b"compared_with")
            value = math.nan if named else lib.gpumb_row_value(g, index, name)
            cells[name.decode()] = _cell(cell, value)
            column += 1
        lib.gpumb_row_line(g, index, text, len(text))
        count = c_uint64()
        samples = lib.gpumb_row_samples(g, index, ctypes.byref(count))
        line = text.value.decode(errors="replace")
        return Row(cells, line, samples[: count.value] if count.value else [])

    def rows(self) -> Rows:
        return Rows(self.row(i) for i in range(self._lib.gpumb_row_count(self._context())))


def open(argv: Optional[Sequence[str]] = None, **settings: Any) -> Context:
    """A context of a program: gpumb.open(sys.argv) takes gpumb's options."""
    return Context(argv, **settings)


def _settings_of(about: Dict[str, Any]) -> Dict[str, Any]:
    """Takes the settings out of keywords that are mixed with what describes a region."""
    known = {field[0] for field in _Settings._fields_} - {"cold"}
    return {name: about.pop(name) for name in list(about) if name in known}


def time(fn: Callable[..., Any], name: str = "", **about: Any) -> Row:
    """Times fn(): its row has median, interval, flags and samples. Keywords as of Context.measure()
    and, as settings, of gpumb_settings: precision=0.002, budget_s=5."""
    with Context(**_settings_of(about)) as g:
        own = getattr(getattr(fn, "func", fn), "__name__", "")  # also of functools.partial
        return cast(Row, g.measure(name or own or "region", fn, **about))


def compare(functions: Mapping[str, Any], **about: Any) -> Rows:
    """Times these in turn, and compares each with the first. Keywords as of time()."""
    with Context(**_settings_of(about)) as g:
        return g.compare(functions, **about)


def do_bench(
    fn: Callable[..., Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Optional[Sequence[Any]] = None,
    quantiles: Optional[Sequence[float]] = None,
    return_mode: str = "mean",
) -> Any:
    """In place of triton.testing.do_bench: the same parameters and results, in ms, and caches
    emptied before each run, as there. `rep` bounds the sampling, which ends early where 1 % is
    reached; flags are said on standard error."""
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode={return_mode!r}: must be min, max, mean, median or all")

    if quantiles is not None and not all(0 <= q <= 1 for q in quantiles):
        raise ValueError(f"quantiles={quantiles!r}: each must be in 0 ... 1")

    def forget() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None

    row = time(
        fn,
        cold=True,
        reset=forget if grad_to_none else None,
        warmup_s=warmup / 1e3 or -1,
        budget_s=max(rep, 1) / 1e3,
        least_s=-1,
    )
    if not row.ok:
        raise Error(repr(row))
    if {*row.flags} - {"unverified", "cached"}:
        print(f"gpumb: do_bench: {row!r}", file=sys.stderr)
    samples = sorted(1e3 * s for s in row.samples)
    if quantiles is not None:
        found = []
        for q in quantiles:  # linear, as torch.quantile
            at = q * (len(samples) - 1)
            low = min(int(at), max(len(samples) - 2, 0))
            high = min(low + 1, len(samples) - 1)
            found.append(samples[low] + (at - low) * (samples[high] - samples[low]))
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return [1e3 * s for s in row.samples]
    if return_mode == "mean":
        return statistics.fmean(samples)
    if return_mode == "median":
        return statistics.median(samples)
    return samples[0] if return_mode == "min" else samples[-1]
