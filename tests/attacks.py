#!/usr/bin/env python3
"""attacks.py - what is written for the test, and what comes of it.

    attacks.py host [--gpu] [--runs 20] [--chance 100] [NAME...]  against 08_grader.cu and grade.py
    attacks.py device [--cpu] [--runs 20] [--jobs 16] [NAME...]   against examples/judge
    attacks.py compile [NAME...]                            device code by nvcc, nothing is run

Each attack is a file in attacks/host or attacks/device whose first lines say what it tries, and
what is expected:

    // tries: ...
    // strict: caught: PART OF THE REASON | OF ANOTHER      by the grader, or by the judge:
    // judge: prevented: WHY                                nothing to catch: it gains nothing
    //   not caught: WHY                                    and so documented

    // chance: WHY        many runs are needed to see how often
    // once: WHY          a run takes long, and there is no more to see in others
    // task: gelu         of the judge
    // needs: a GPU       it can't be tried on the CPU; or: the CPU; or: a user without rights
    // compiles: no       that is the attack, or its end

Exit code 1: one that is said to be caught, or prevented, was accepted, or ended otherwise than its
file says.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "tests", "attacks")
GRADE = os.path.join(TOP, "examples", "grade.py")
JUDGE = os.path.join(TOP, "examples", "judge", "judge.py")

# Half as fast again as the reference: what computes is not, what cheats is by far.
EXPECT = "mine>=1.5*reference"
QUICK = ["--samples", "30:30", "--warmup", "0.02", "--budget", "2"]

KEYS = "tries|strict|judge|chance|once|task|needs|compiles|launch|scratch"  # of the first lines


class Attack:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.says = {}
        with open(path, encoding="utf-8") as file:
            key = None
            for line in file:
                found = re.fullmatch(rf"// (?:({KEYS}): )?(.*)", line.rstrip("\n"))
                if not found:
                    break
                key = found[1] or key
                self.says[key] = f"{self.says[key]} {found[2]}" if not found[1] else found[2]

    def expected(self, by):
        """The class, and what the reason may have in it."""
        kind, _, text = self.says[by].partition(": ")
        if kind not in ("caught", "prevented", "not caught") or not text:
            raise SystemExit(f"attacks: {self.path}: nothing is expected: {self.says[by]}")
        return kind, text.split(" | ") if kind == "caught" else []


def attacks(kind, options):
    folder, names = os.path.join(options.folder, kind), options.names
    found = [Attack(os.path.join(folder, f)) for f in sorted(os.listdir(folder))
             if f.endswith(".cu")]
    lacking = set(names) - {a.name for a in found}
    if lacking:
        raise SystemExit(f"attacks: no {', '.join(sorted(lacking))} in {folder}")
    return [a for a in found if not names or a.name in names]


def command(variable, otherwise):
    return os.environ.get(variable, otherwise).split()


def nvcc():
    return command("NVCC", shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")


def build(folder, chosen, gpu):
    """The grader once, and each attack linked to it: {name: (program, why there is none)}."""
    compiler, threads = command("CXX", "c++"), ["-pthread"]
    strictly = ["-x", "c++", "-Wall", "-Wextra", "-Werror"]
    if gpu:
        compiler, threads = nvcc() + ["-arch=native"], ["-Xcompiler", "-pthread"]
        strictly = ["-x", "cu", "-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings"]
    compiler += threads
    compiles = compiler + strictly + ["-O2", "-std=c++17", "-I", TOP, "-c"]
    grader = os.path.join(folder, "grader.o")
    subprocess.run(compiles + [os.path.join(TOP, "examples", "08_grader.cu"), "-o", grader],
                   check=True)

    def one(attack):
        program = os.path.join(folder, attack.name)
        for what, step in (("compile", compiles + [attack.path, "-o", program + ".o"]),
                           ("link", compiler + [program + ".o", grader, "-o", program])):
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                return None, f"it does not {what}: {done.stderr}"
        return program, ""

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip([a.name for a in chosen], pool.map(one, chosen)))


Outcome = collections.namedtuple("Outcome", "accepted reason")


BUSY = "/reference: failed: takes"  # it is honest: others have made the machine three times slower


def patiently(run, tries=3):
    """The first outcome that is about the attack: on a busy machine the reference may fail."""
    for _ in range(tries):
        outcome = run()
        if BUSY not in outcome.reason:
            break
    return outcome


def another_user(folder):
    """How grade.py runs for a user without rights, who reads that folder: a command; or None."""
    if os.geteuid() != 0:
        return [sys.executable]
    os.chmod(folder, 0o755)
    for python in (sys.executable, "/usr/bin/python3"):
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python]
        if shutil.which("setpriv") and not subprocess.run(
                user + [GRADE, "--help"], capture_output=True, check=False).returncode:
            return user
    return None


def graded(program, python):
    done = subprocess.run(python + [GRADE, "--seconds", "60", program, "--expect", EXPECT] + QUICK,
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    said = (done.stdout.strip().splitlines() or ["grade: nothing is said"])[-1]
    if done.returncode not in (0, 1):
        said += f": exit code {done.returncode}"
    return Outcome(done.returncode == 0, re.sub("^grade: (not met: )?", "", said))


def without_strict(program):
    """Whether the grader alone accepts it: what an attack is worth. A shell is its parent, since
    some turn against theirs."""
    done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", program, "--expect", EXPECT] + QUICK,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode == 0


def gpus():
    """Those that may be used, by name: judgements take turns on them."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return os.environ["CUDA_VISIBLE_DEVICES"].split(",")
    said = ""
    if shutil.which("nvidia-smi"):
        said = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True,
                              check=False).stdout
    return [str(i) for i in range(max(said.count("GPU "), 1))]


def judged(attack, options, gpu):
    """Accepted means: right, and as fast as EXPECT asks for."""
    task = os.path.join(os.path.dirname(options.judge), "tasks", attack.says["task"] + ".cu")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "judged.json")
        done = subprocess.run([sys.executable, options.judge, "--json", path]
                              + ["--samples", str(options.samples)] * bool(options.samples)
                              + ["--cpu"] * options.cpu + [task, attack.path], capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, CUDA_VISIBLE_DEVICES=gpu))
        if not os.path.exists(path):
            return Outcome(False, f"no JSON: exit code {done.returncode}: {done.stderr[-200:]}")
        with open(path, encoding="utf-8") as file:
            found, = json.load(file)["submissions"]
    if not found["compiled"] and not done.stdout.count("ended at its limit"):
        return Outcome(False, "it does not compile: " + found["reason"])
    if not found["accepted"]:
        return Outcome(False, found["reason"])
    fast = found.get("lo", 0) >= 1.5
    return Outcome(fast, f"right, {found['ratio']:.3f} x" if fast else
                   f"no faster than asked: {found['ratio']:.3f} x")


def short(reason):
    """Without what differs from run to run."""
    reason = reason.replace("mine>=1.5*reference", "ratio")
    reason = re.sub(r"^\w+/mine: failed: ", "", reason)
    reason = re.sub(r"^ratio: (not met|undecided): \w+/mine$", "no faster than asked", reason)
    reason = re.sub(r"^(it does not link): .*", r"\1", reason, flags=re.S).split("\n")[0]
    reason = "".join(c if c.isprintable() else "?" for c in reason)
    reason = re.sub(r"\b[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?( ?(ns|us|ms|s)\b)?", "N", reason)
    return reason


def verdict(attack, by, outcomes):
    """What is wrong with how it ended, or nothing."""
    kind, reasons = attack.expected(by)
    for o in outcomes:
        if o.accepted and kind != "not caught":
            return "ACCEPTED"
        if kind == "caught":
            right = any(r in o.reason or r in short(o.reason) for r in reasons)
        else:
            right = not o.reason.startswith("it does not")
        if not right:
            return f"ended otherwise: {o.reason}"
    return ""


def show(attack, by, outcomes, alone, wrong):
    kind, _ = attack.expected(by)
    accepted = sum(o.accepted for o in outcomes)
    print(f"{attack.name:30} {kind:11} {accepted:3} of {len(outcomes):3}{alone}")
    for reason, count in collections.Counter(short(o.reason) for o in outcomes).most_common():
        print(f"    {count:3} x {reason}")
    ratios = [float(found[1]) for o in outcomes if (found := re.search(r"([\d.]+) x$", o.reason))]
    if ratios:
        print(f"        {min(ratios):.3f} ... {max(ratios):.3f} times the baseline's speed")
    if wrong:
        print(f"    WRONG: {wrong}")


def summary(by, chosen, results, wrong):
    kinds = collections.Counter(a.expected(by)[0] for a in chosen if a.name in results)
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    print(f"{len(results)} attacks: {said}; {wrong} ended otherwise than their files say")


def context(by, gpu):
    compiler = nvcc() if gpu else command("CXX", "c++")
    version = subprocess.run(compiler + ["--version"], capture_output=True, text=True, check=True)
    print(f"{by}; {version.stdout.splitlines()[-1 if gpu else 0]}; {os.cpu_count()} cores, "
          f"{os.getloadavg()[0]:.0f} programs that want them")


def host(options):
    chosen = attacks("host", options)
    wrong = 0
    context(f"08_grader.cu by grade.py on {'a GPU' if options.gpu else 'the CPU'}, "
            f"asked for {EXPECT} {' '.join(QUICK)}", options.gpu)
    with tempfile.TemporaryDirectory() as folder:
        programs = build(folder, chosen, options.gpu)
        user, results = another_user(folder), {}
        for attack in chosen:
            runs = options.chance if "chance" in attack.says else options.runs
            if attack.expected("strict")[0] == "not caught":
                runs = max(runs // 4, 1)
            program, why = programs[attack.name]
            alone = ""
            if program and options.alone:
                fooled = sum(without_strict(program) for _ in range(options.alone))
                alone = f"   without --strict {fooled} of {options.alone}"
            needs = attack.says.get("needs")
            python = user if needs == "a user without rights" else [sys.executable]
            if not python or (options.gpu and needs == "the CPU"):
                print(f"{attack.name:30} needs {attack.says['needs']}")
                continue
            outcomes = [patiently(lambda: graded(program, python)) if program else
                        Outcome(False, why) for _ in range(runs if program else 1)]
            why = verdict(attack, "strict", outcomes)
            wrong += bool(why)
            results[attack.name] = outcomes
            show(attack, "strict", outcomes, alone, why)
            sys.stdout.flush()
    summary("strict", chosen, results, wrong)
    return len(results), wrong, len(chosen) - len(results)


def device(options):
    chosen = attacks("device", options)
    if not os.path.exists(options.judge):
        raise SystemExit(f"attacks: no {options.judge}")
    wrong, results, turn = 0, {}, itertools.cycle(gpus())
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {}
        for attack in chosen:
            if options.cpu and "needs" in attack.says:
                print(f"{attack.name:30} needs {attack.says['needs']}")
                continue
            runs = 1 if "once" in attack.says else \
                options.chance if "chance" in attack.says else options.runs
            running[attack] = [pool.submit(judged, attack, options, next(turn))
                               for _ in range(runs)]
        for attack, futures in running.items():
            try:
                outcomes = [f.result() for f in futures]
            except BaseException:  # an interrupt: what has not begun never does
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            why = verdict(attack, "judge", outcomes)
            wrong += bool(why)
            results[attack.name] = outcomes
            show(attack, "judge", outcomes, "", why)
            sys.stdout.flush()
    summary("judge", chosen, results, wrong)
    return len(results), wrong, len(chosen) - len(results)


def compiles(options):
    """Each device attack as the judge compiles it, unless that fails by intent."""
    chosen = [a for a in attacks("device", options) if "compiles" not in a.says]
    wrong = 0
    for attack in chosen:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(nvcc() + ["-cubin", "-arch=sm_90", "-std=c++17", "-O3",
                                          "-o", os.path.join(folder, "code"), attack.path],
                                  capture_output=True, text=True, check=False)
        if done.returncode or "warning" in done.stderr:
            wrong += 1
            print(f"{attack.name}: does not compile\n{done.stdout}{done.stderr}")
    return len(chosen), wrong, 0


def main():
    parser = argparse.ArgumentParser(prog="attacks.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["host", "device", "compile"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", default=FOLDER, help="of the attacks")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--chance", type=int, default=100, help="runs of those with a chance")
    parser.add_argument("--jobs", type=int, default=1, help="judgements at a time")
    parser.add_argument("--samples", type=int, default=0, help="of the judge, if not its own")
    parser.add_argument("--alone", type=int, default=0, help="runs without --strict")
    parser.add_argument("--judge", default=JUDGE, help="its program, if it is elsewhere")
    parser.add_argument("--cpu", action="store_true", help="the judge without a GPU")
    parser.add_argument("--gpu", action="store_true", help="the grader on one, by nvcc")
    options = parser.parse_intermixed_args()
    run = {"host": host, "device": device, "compile": compiles}[options.what]
    tried, wrong, skipped = run(options)
    print(f"{tried - wrong} passed, {wrong} failed, {skipped} skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
