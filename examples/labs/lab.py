"""What the cells of labs.ipynb do: builds, runs, replays, traces and draws a lab by the commands of
README.md, which it shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
ROWS = Path("examples/labs/h200")
KEPT = Path("build/notebook")


def nvcc():
    """Where nvcc is, if a GPU is there, too; else None."""
    found = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    smi = shutil.which("nvidia-smi")
    devices = smi and subprocess.run([smi, "-L"], capture_output=True, text=True, check=False)
    return found if devices and "GPU" in devices.stdout else None


def shell(*command):
    """Runs a command at the top of the clone, and shows it and what it says."""
    words = [str(word) for word in command]
    print("$", *words)
    # A make that this runs under has options of its own.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    ran = subprocess.run(words, cwd=TOP, env=alone, stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    print(ran.stdout, end="" if ran.returncode == 0 else f"exit code {ran.returncode}\n")
    return ran.returncode


class Lab:
    """A lab by its name, '05_coalescing', or the beginning of it, '05'."""

    def __init__(self, name):
        (source,) = (TOP / "examples/labs").glob(f"{name}*.cu")
        self.name, self.source = source.stem, source.relative_to(TOP)
        self.nvcc = nvcc()
        self.backend = "cuda" if self.nvcc else "cpu"
        self.build_in = Path("build") / self.backend / "labs"
        self.mine = KEPT / f"{self.name}.json"
        self.changed = KEPT / f"{self.name}-changed.json"

    def _repr_markdown_(self):
        """The comment that the lab begins with."""
        comment = re.match(r"/\*(.*?)\*/", (TOP / self.source).read_text(encoding="utf-8"), re.S)
        lines = [re.sub(r"^ \* ?", "", line) for line in comment[1].strip().splitlines()]
        where = "a GPU" if self.nvcc else "no GPU: results, traces, and stored rows"
        text = re.sub(r"^(Question|Change):", r"\n**\1:**", "\n".join(lines), flags=re.M)
        commands = re.sub(r"((?:^    .*\n)+)", r"\n\1\n", text, flags=re.M)
        return f"`{self.source}`, {where}\n\n{commands}"

    def build(self, name=None):
        """The lab as it is now, or another of that name."""
        to = [f"NVCC={self.nvcc}"] if self.nvcc else []
        program = self.build_in / (name or self.name)
        if shell("make", "-s", f"BACKEND={self.backend}", *to, program):
            raise RuntimeError(f"{program} can't be built: see above")

    def run(self, *options, changed=False):
        """Its rows, kept for plot(); where they are of a GPU, changed ones beside those before."""
        (TOP / KEPT).mkdir(parents=True, exist_ok=True)
        beside = ["--compare", self.mine] if changed and self.nvcc else []
        shell(self.build_in / self.name, "--budget", 0.1, "--json",
              self.changed if changed else self.mine, *beside, *options)

    def replay(self, *options, changed=False):
        """The stored rows; those of the changed program, if that is asked for."""
        name = f"solutions/{self.name}" if changed else self.name
        rows = ROWS / f"{name}.json"
        if not (TOP / rows).exists():
            print(f"No rows of {name} yet: the solutions say what stands for them.")
            return
        if changed:
            self.build(name)
        shell(self.build_in / name, "--replay", rows, *options)

    def trace(self):
        """What each access touches, on the CPU whatever there is."""
        shell("make", "-s", "BACKEND=cpu", "trace", f"FILE={self.source}", "ARGS=--profile")

    def plot(self):
        """Figures of the stored rows, and beside them yours, if they are of a GPU."""
        rows = [ROWS / f"{self.name}.json"] + [self.mine, self.changed] * bool(self.nvcc)
        rows = [file for file in rows if (TOP / file).exists()]
        if not rows:
            print(f"No rows of {self.name} on a GPU yet.")
            return
        folder = KEPT / self.name
        shutil.rmtree(TOP / folder, ignore_errors=True)
        shell(sys.executable, "plots/plot.py", *rows, *["--overlay"][: len(rows) - 1], "--out",
              folder)
        from IPython.display import SVG, display  # here: the rest needs no notebook

        display(*(SVG(str(file)) for file in sorted((TOP / folder).glob("*.svg"))))
