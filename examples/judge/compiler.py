"""compiler.py - builds the judge's own programs, and, where it sees nothing of this machine but the
toolkit, what is judged."""
import glob
import os
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time

from files import Wrong

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
MOST_PRINTED = 32 << 20  # bytes that a child may print, of which so many are shown
MOST_SHOWN = 1500
MOST_MEMORY = 16 << 30  # bytes of addresses that a child may have ...
A_THREAD = 256 << 20  # ... and for each of its threads: a stack, and what malloc() reserves


class Missing(Exception):
    """Something of the judge's own fails: nothing is said about the submission."""


# In a name space of its own: the system's programs and libraries, the toolkit, its own folder.
HIDE = """set -e
root=$1 folder=$2 toolkit=$3; shift 3
mount -t tmpfs -o size=2g none "$root"
for d in /usr /bin /lib /lib64 /etc/alternatives /etc/ld.so.cache "$toolkit"; do
    if [ -L "$d" ]; then cp -P "$d" "$root$d"
    elif [ -e "$d" ] && ! [ -e "$root$d" ]; then
        mkdir -p "$root$(dirname "$d")"
        if [ -d "$d" ]; then mkdir -p "$root$d"; else : >"$root$d"; fi
        mount --rbind "$d" "$root$d"
        mount -o remount,bind,ro "$root$d" 2>/dev/null || true
    fi
done
mkdir -p "$root/tmp" "$root/dev" "$root/proc" "$root/judge"
: >"$root/dev/null"
mount --bind /dev/null "$root/dev/null"
mount -t proc none "$root/proc"
mount --bind "$folder" "$root/judge"
exec chroot "$root" /bin/sh -c 'cd /judge && exec "$@"' sh "$@"
"""
APART = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--fork",
         "--kill-child"]


def limit(seconds, memory, file_bytes):
    """What a child sets for itself before it becomes the program."""
    def set_limits():
        for what, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, seconds),
                            (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, file_bytes)):
            if value is not None:
                resource.setrlimit(what, (value, value))
    return set_limits


def end(child):
    """With all that it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


class Compiler:
    """Builds what is the judge's, and, confined, what is not."""

    def __init__(self, options):
        self.cpu, self.seconds = options.cpu, 60
        nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        hipcc = shutil.which("hipcc") or shutil.which("/opt/rocm/bin/hipcc")
        self.backend = "cpu" if self.cpu else "cuda" if nvcc else "hip" if hipcc else None
        if not self.backend:
            raise Missing("neither nvcc nor hipcc is here: --cpu tries a task without")
        self.program = {"cpu": shutil.which(os.environ.get("CXX", "c++").split()[0]), "cuda": nvcc,
                        "hip": hipcc}[self.backend]
        if not self.program:
            raise Missing("there is no C++ compiler")
        self.toolkit = os.path.dirname(os.path.dirname(os.path.realpath(self.program)))
        self.arch = options.arch or self.device()
        self.build = options.build or os.path.join(TOP, "build", self.backend, "judge")
        os.makedirs(self.build, exist_ok=True)
        self.hides = subprocess.run(APART + ["true"], capture_output=True, check=False
                                    ).returncode == 0 if shutil.which("unshare") else False

    def device(self):
        if self.backend == "cpu":
            return ""
        ask = {"cuda": ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
               "hip": ["rocm_agent_enumerator"]}[self.backend]
        try:
            found = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.split()
        except (OSError, subprocess.CalledProcessError) as error:
            raise Missing(f"no GPU was found by {ask[0]}: --cpu tries a task without one, "
                          "--compile-only --arch sm_90 compiles for one") from error
        found = [f for f in found if f != "gfx000"]
        if not found:
            raise Missing("no GPU was found")
        return found[0] if self.backend == "hip" else "sm_" + found[0].replace(".", "")

    def command(self, source, out, module, includes):
        """Of a program, or of a module to be loaded."""
        flags = [f"-I{path}" for path in includes] + ["-std=c++17", "-O3", source, "-o", out]
        if self.backend == "cuda":
            kind = ["-cubin", "-rdc=false"] if module else []
            language = ["-x", "cu"] if source.endswith(".h") else []
            return [self.program, f"-arch={self.arch}"] + kind + language + flags
        if self.backend == "hip":
            kind = ["--genco", "-include", "hip/hip_runtime.h"] if module else []
            return [self.program, f"--offload-arch={self.arch}", "-x", "hip"] + kind + flags
        return [self.program, "-pthread", "-fPIC"] + (
            ["-shared", "-fno-gnu-unique", "-fvisibility=hidden"] if module else ["-rdynamic"]
        ) + ["-x", "c++"] + flags

    def make(self, name, source, *more, newer=()):
        """One of the judge's own programs, unless it is there and newer than its sources."""
        out = os.path.join(self.build, name)
        needs = glob.glob(f"{HERE}/*.*") + [source, f"{TOP}/gpumb.h", *newer]
        if os.path.exists(out) and all(os.path.getmtime(n) < os.path.getmtime(out) for n in needs):
            return out
        with tempfile.TemporaryDirectory(dir=self.build) as folder:
            fresh = os.path.join(folder, "out")
            command = self.command(source, fresh, False, [TOP, HERE])
            command += list(more) + (["-ldl"] if self.cpu else [])
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Missing(f"{os.path.basename(source)} does not compile:\n{done.stderr[:2000]}")
            os.rename(fresh, out)
        return out

    def keep(self, name, text):
        """A file that is as old as what it says."""
        path = os.path.join(self.build, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    return path
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def object(self):
        """gpumb's implementation: that of make, if it is there and new."""
        made = os.path.join(TOP, "build", self.backend, "gpumb.o")
        if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(f"{TOP}/gpumb.h"):
            return made
        return self.make("gpumb.o", f"{TOP}/gpumb.h", "-c", "-DGPUMB_IMPLEMENTATION=")

    def link(self, objects):
        """Behind -x, which would take an object for a source."""
        return objects if self.backend == "cuda" else ["-x", "none", *objects]

    def confined(self, text, name, seconds):
        """(image, what the compiler says) of a source, which has a folder of its own."""
        with tempfile.TemporaryDirectory(prefix="judge-") as top:
            folder, root = os.path.join(top, "own"), os.path.join(top, "root")
            for path in (folder, root):
                os.mkdir(path)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
            headers = [f"{HERE}/task.h", f"{HERE}/launch.h", f"{TOP}/gpumb.h"]
            for header in headers if self.cpu else headers[:1]:
                shutil.copy(header, folder)
            inside = self.command(name, "out", True, ["."])
            command = APART + ["/bin/sh", "-c", HIDE, "sh", root, folder, self.toolkit
                               ] + inside if self.hides else inside
            path = os.path.dirname(self.program) + ":/usr/bin:/bin:/usr/sbin:/sbin"
            away = "/tmp" if self.hides else folder
            with subprocess.Popen(
                    command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, start_new_session=True,
                    env={"PATH": path, "HOME": away, "TMPDIR": away, "LC_ALL": "C"},
                    preexec_fn=limit(seconds, MOST_MEMORY, 256 << 20)) as child:
                said, why = read_some(child, time.monotonic() + seconds)
            out = os.path.join(folder, "out")
            if why or child.returncode or not os.path.isfile(out) or os.path.islink(out):
                raise Wrong(why or said.strip() or f"the compiler ended with {child.returncode}")
            with open(out, "rb") as file:
                return file.read(), said


def read_some(child, deadline):
    """(the first that it prints, why it was ended)"""
    said, total, why = b"", 0, ""
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
                why = "the compiler was ended at its limit of time"
                break
            part = os.read(child.stdout.fileno(), 1 << 16)
            total += len(part)
            said = (said + part)[:MOST_SHOWN]
            if total > MOST_PRINTED:
                why = "the compiler was ended: it prints for ever"
            if not part or why:
                break
    finally:
        if not why:
            try:
                child.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                why = "the compiler was ended at its limit of time"
        end(child)
    return said.decode(errors="replace"), why
