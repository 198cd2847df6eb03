#!/usr/bin/env python3
"""judge.py - judges kernels that may be written to fool a judge: compiles a submission where it
sees nothing, runs its device code only, in a process that knows nothing, and decides here.

    judge.py tasks/gelu.cu submission.cu          one page
    judge.py tasks/gelu.cu folder --json all.json a table
    judge.py --cpu tasks/gelu.cu submission.cu    tries a task: no verdict, and no sandbox

Exit code 0: right, and --points reached; 1: not; 2: usage, or something is missing here. README.md
has the format of both files and says what is promised."""
import argparse
import concurrent.futures
import glob
import json
import math
import os
import re
import secrets
import select
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from compiler import (A_THREAD, Compiler, HERE, MOST_MEMORY, MOST_PRINTED, MOST_SHOWN, Missing, end,
                      limit)
from files import CASTS, Code, SIZES, Submission, Task, Wrong, check_arguments, evaluate, expect

BASELINE, SUBMISSION, CHECK = 0, 1, 2
FIGURES = ("median", "lo", "hi", "ratio", "ratio_lo", "ratio_hi")  # of a row, in seconds
ERRORS_BYTES = 128  # of a judge_errors, at most
SLOWED = 1.02  # medians of the baseline differ by up to 1.5 % within a session (H100, H200)
ELSEWHERE = "it works on another stream"  # a row's reason
SAMPLES = 61  # of each kernel in a session: with 15, an interval is three times as wide


# ---- what is launched ----

def launchers(launches, buffers, sizes, text, exported):
    """C++ that launches a file's kernels: GPUMB_LAUNCH with what comes from a plan."""
    form = "GPUMB_LAUNCH_BARRIER" if re.search(r"__sync|_sync\(|__shfl", text) else "GPUMB_LAUNCH"
    lines = []
    for i, launch in enumerate(launches):
        passed = []
        for k, name in enumerate(launch.arguments):
            cast = None if name in buffers else launch.argument(name, sizes)[0]
            passed.append(f"judge_pointer{{a[{k}].pointer}}" if name in buffers else
                          f"judge_as<{CASTS[cast][0] if cast in CASTS else 'uint64_t'}>(a[{k}])")
        start = ['extern "C" __attribute__((visibility("default"))) '] if exported else ["static "]
        lines += [f"{start[0]}void judge_launch_{i}(const uint64_t e[7], const judge_argument *a)",
                  "{ (void)a; " + f"{form}({launch.name}, {{e[0], e[1], e[2]}}, "
                  "{e[3], e[4], e[5]}, e[6]" + "".join(f", {p}" for p in passed) + "); }"]
    if not exported:
        names = ", ".join(f"judge_launch_{i}" for i in range(len(launches)))
        lines.append(f"static judge_launcher *const judge_launchers[] = {{{names}}};")
    return "\n".join(lines) + "\n"


def module(compiler, file, text, task, limits):
    """(image, kernels' names in it, a hash of its machine code, what the compiler said)"""
    buffers = own_buffers(task, file)
    if compiler.cpu:
        source = (f'#include "launch.h"\n#line 1 "submission.cu"\n{text}\n' +
                  launchers(file.launches, buffers, task.cases[0], text, True))
        image, said = compiler.confined(source, "launched.cu", limits["compile"])
        return image, [launch.name for launch in file.launches], None, said
    image, said = compiler.confined(text, "submission.cu", limits["compile"])
    code = Code(image[max(image.find(b"\x7fELF"), 0):])
    expect(code.variables() <= limits["scratch"],
           f"its __device__ variables have {code.variables()} bytes, more than the limit")
    names = [check_arguments(code, launch, buffers, task.cases[0]) for launch in file.launches]
    return image, names, code.same(), said


def own_buffers(task, file):
    """Names that its launches may pass."""
    return [n for n, (role, _, _) in task.buffers.items() if role in "io"] + list(file.scratch)


def elements(count):
    return f"{count} element{'s' * (count != 1)}"


class Plan:
    """All sizes evaluated, for runner and referee."""

    def __init__(self, task, sides):
        self.lines, self.most = [], {"i": 1, "o": 1}
        for sizes in task.cases:
            self.case(task, sizes, sides)

    def case(self, task, sizes, sides):
        flop = task.all("flop")
        self.lines.append(f"case {evaluate(task.all('bytes')[0], sizes)} "
                          f"{evaluate(flop[0], sizes) if flop else 0}")
        number, at = {}, {"i": 0, "o": 0}
        for name, (role, kind, count) in task.buffers.items():
            size = ERRORS_BYTES if role == "e" else evaluate(f"({count}) * {SIZES[kind]}", sizes)
            expect(0 < size < 1 << 40, f"{name} has {size} bytes")
            number[name] = len(number)
            self.lines.append(f"buffer {role} {kind} {-1 if role in 'io' else CHECK} {size} "
                              f"{at.get(role, 0)}")
            if role in at:
                at[role] += -(-size // 256) * 256
                self.most[role] = max(self.most[role], at[role])
        count = len(number)
        for side, (file, names) in sides.items():
            mine = dict(number)
            if side != CHECK:
                mine = {name: number[name] for name in own_buffers(task, file) if name in number}
                total = 0
                for name, text in file.scratch.items():
                    expect(side == BASELINE or name not in number,
                           f"scratch: '{name}' is a name of the task")
                    size = evaluate(text, sizes)
                    total += size
                    expect(0 < size and total <= task.limits["scratch"],
                           f"scratch: '{name}': 1 to {task.limits['scratch']} bytes in all")
                    mine[name], count = count, count + 1
                    self.lines.append(f"buffer s byte {side} {size} 0")
            for i, launch in enumerate(task.checks if side == CHECK else file.launches):
                passed = [(mine[a], 0) if a in mine else (-1, launch.argument(a, sizes)[1])
                          for a in launch.arguments]
                self.lines.append(" ".join(map(str, (
                    "launch", side, i, names[i], *launch.extent(sizes), len(passed),
                    *(word for pair in passed for word in pair)))))


# ---- a session: runner and referee, and the word between them ----

class Program:
    """One of both, by pipes: what it says on them, and what it prints, which is cut."""

    def __init__(self, name, command, folder, lines, limits):
        self.name, self.heard, self.printed, self.total = name, b"", b"", 0
        hers, self.to = os.pipe()
        self.fd, its = os.pipe()
        path = os.path.join(folder, f"{name}.plan")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.child = subprocess.Popen(  # pylint: disable=consider-using-with
            [command[0], path, str(hers), str(its), *command[1:]], pass_fds=(hers, its), cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=limits)
        os.close(hers)
        os.close(its)
        self.drains = threading.Thread(target=self.drain, daemon=True)
        self.drains.start()

    def drain(self):
        while part := self.child.stdout.read1(1 << 16):
            self.total += len(part)
            self.printed = (self.printed + part)[:MOST_SHOWN]
            if self.total > MOST_PRINTED:
                self.child.kill()
                return

    def say(self, line):
        try:
            os.write(self.to, line.encode() + b"\n")
        except OSError:
            pass  # it is gone: hear() says how

    def hear(self, deadline):
        while b"\n" not in self.heard:
            left = deadline - time.monotonic()
            expect(left > 0 and select.select([self.fd], [], [], left)[0],
                   f"the {self.name} was ended at its limit of time")
            part = os.read(self.fd, 1 << 16)
            expect(part, self.fate() if not part else "")
            self.heard += part
            expect(len(self.heard) < 1 << 16, f"the {self.name} says too much")
        line, _, self.heard = self.heard.partition(b"\n")
        return line.decode(errors="replace")

    def fate(self):
        if self.total > MOST_PRINTED:
            return f"the {self.name} was ended: it prints for ever"
        try:
            code = self.child.wait(5)
        except subprocess.TimeoutExpired:
            return f"the {self.name} has closed its pipe"
        self.drains.join(1)  # what it has printed is there, unless others hold its pipe
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        shown = self.printed.decode(errors="replace").strip()
        return f"the {self.name} ended {how}{': ' + shown[-300:] if shown else ''}"

    def close(self):
        end(self.child)
        self.drains.join(5)
        self.child.stdout.close()
        os.close(self.to)
        os.close(self.fd)


class Session:
    """Runs a plan, and keeps what was seen: wrong results, rows, the host's times."""

    def __init__(self, cases, alternatives, sides):
        self.cases, self.alternatives, self.sides = cases, alternatives, sides
        self.rows, self.wrong, self.checks, self.worst = [], [], {}, 0.0
        self.host = {BASELINE: [], SUBMISSION: []}
        self.host_checked = {BASELINE: [], SUBMISSION: []}
        self.device, self.complete = "", False
        self.entered = False  # whether the submission has been loaded

    def run(self, runner, referee, deadline):
        self.ask(referee, None, deadline)
        state, side, now, key, taken = "opens", None, None, None, 0.0
        while True:
            line = runner.hear(deadline)
            heard_at = time.monotonic()
            word = line.split(" ")
            if state == "ran":  # a check comes behind copies of outputs
                (self.host_checked if line == "check" else self.host)[side].append(heard_at - taken)
            if state == "opens" and word[0] == "open" and len(word) > 2:
                self.device, state = line[5:], "idle"
                if not self.device.strip():
                    raise Missing("no device could be opened")
            elif state in ("idle", "ran") and re.fullmatch(r"want \d{1,2} [01]", line):
                now, side = int(word[1]), int(word[2])
                expect(now < len(self.cases) and side in self.sides, f"the runner wants {line[5:]}")
                if side == SUBMISSION and not self.entered:
                    self.entered = True
                    self.host[BASELINE], self.host_checked[BASELINE] = [], []
                key = f"{now} {secrets.randbelow(self.alternatives)} {secrets.token_hex(32)}"
                self.ask(referee, f"make {key}", deadline, "made")
                runner.say("take anew" if secrets.randbelow(4) == 0 else "take")
                state = "takes"
            elif state == "takes" and line == "taken":
                state, taken = "ran", time.monotonic()
            elif state == "ran" and line == "check":
                found = self.ask(referee, f"check {key}", deadline, "checked").split(" ")
                runner.say("wrong" if self.note(now, side, found) else "right")
                state, key = "idle", None
            elif state in ("idle", "ran") and word[0] == "row" and "|" in line:
                self.rows.append(self.row(line))
                state = "idle"
            elif line == "done":
                self.complete = state == "idle"  # else its device has failed
                return
            else:
                raise Wrong(f"the runner says '{line[:60]}', which it should not say now")

    def ask(self, referee, line, deadline, answer="open"):
        try:
            if line:
                referee.say(line)
            found = referee.hear(deadline)
            expect(found.split(" ")[0] == answer, f"the referee says '{found[:60]}'")
            return found
        except Wrong as error:
            expect(time.monotonic() < deadline, "the session was ended at its limit of time")
            raise Missing(str(error)) from error

    def note(self, case, side, found):
        """What the referee has found."""
        count = int(found[1])
        self.checks[case, side] = self.checks.get((case, side), 0) + 1
        if side == BASELINE and count:
            raise (Wrong if self.entered else Missing)(
                f"the baseline is wrong in {elements(count)}, such as {' '.join(found[3:6])}")
        if side == SUBMISSION:
            self.worst = max(self.worst, float(found[2]))
            if count:
                self.wrong.append({"case": case, "count": count, "worst": float(found[2]), "some": [
                    {"element": int(found[i]), "is": float(found[i + 1]),
                     "right": float(found[i + 2])} for i in range(3, len(found) - 2, 3)]})
        return count

    def row(self, line):
        numbers, _, reason = line.partition("|")
        found = re.fullmatch(r"row (\w+) ([01]) (-?\d) (\d+)((?: [-+.\w]+){6}) (\S*)", numbers)
        expect(found, f"the runner says '{line[:60]}', which is no row")
        try:
            figures = [float(f) for f in found[5].split()]
        except ValueError as error:
            raise Wrong("the runner's figures are none") from error
        return {"name": found[1], "ok": found[2] == "1" and found[3] == "1",
                "samples": int(found[4]), "flags": [f for f in found[6].split(";") if f],
                "reason": reason, **dict(zip(FIGURES, figures))}

    def disturbed(self):
        """Whether nothing but ELSEWHERE is said against it: device code has no other stream, so
        that other programs on the GPU cause it."""
        against = [row["reason"] for row in self.rows if not row["ok"]]
        return bool(against) and not self.wrong and all(a.startswith(ELSEWHERE) for a in against)


def accept(session, expected, printed):
    """Raises Wrong unless its rows are those that were to come, and complete."""
    own = [row for row in session.rows if row["name"] == "submission"]
    why = [f"at {session.cases[i]}: {row['reason']}"
           for i, row in enumerate(own[:len(session.cases)]) if not row["ok"] and
           row["reason"] not in ("", "wrong result")]
    expect(not session.wrong, why[0] if why else "wrong results")
    expect(not why, why[0] if why else "")
    if session.rows and session.rows[0]["name"] == "alone" and not session.rows[0]["ok"]:
        raise Missing(f"the baseline: {session.rows[0]['reason']}")
    expect(session.complete and [row["name"] for row in session.rows] == expected,
           f"its runs have not come to their end{': ' + printed.strip() if printed else ''}")
    for row in session.rows:
        expect(row["ok"], f"the {row['name']}: {row['reason'] or 'not checked'}")
        expect(all(0 <= row[f] < math.inf for f in FIGURES) and row["lo"] <= row["median"] and
               not 0 < row["hi"] < row["median"], "its times contradict each other")
    for case, sizes in enumerate(session.cases):
        checks = session.checks.get((case, SUBMISSION), 0)
        expect(checks >= 2 + own[-1]["samples"] // 10,
               f"at {sizes}: only {checks} of its runs were checked")


def ratio(session):
    """(median, lo, hi) of the baseline's time by the submission's, of both in turns: or, where that
    baseline is slower than before the submission was loaded, of that one. An end that is unknown is
    0, or without a bound: such an interval reaches nothing."""
    alone, baseline, row = session.rows

    def by(a, b):
        return a / b if b > 0 else math.inf
    expect(row["median"] > 0 and row["ratio"] > 0, "it has no time")
    if baseline["median"] > SLOWED * alone["median"]:
        return (by(alone["median"], row["median"]), by(alone["lo"], row["hi"] or math.inf),
                by(alone["hi"] or math.inf, row["lo"]))
    return (by(1, row["ratio"]), by(1, row["ratio_hi"] or math.inf), by(1, row["ratio_lo"]))


def verdict(lo, hi):
    """Of a ratio's interval. Faster by less than SLOWED may be a baseline that was slowed down."""
    return ("faster" if lo > SLOWED else "slower" if hi < 0.99 else
            "same" if lo > 0.99 and hi < 1.01 else "undecided")


def host_excess(session):
    """(seconds that the host saw beyond the submission's time, more than beyond the baseline's,
    what it can't tell). How much the submission's times vary is its author's choice: that widens
    nothing."""
    excess, blur = 0.0, 50e-6
    few = min(map(len, session.host.values())) < 4  # of few samples most are checked
    for side, name, sign in ((SUBMISSION, "submission", 1), (BASELINE, "baseline", -1)):
        seen = session.host[side] + (session.host_checked[side] if few else [])
        expect(len(seen) >= 4, "the host saw too few of its runs")
        row = next(row for row in session.rows if row["name"] == name)
        quarter = statistics.quantiles(seen, n=4)
        excess += sign * (quarter[1] - row["median"])
        if side == BASELINE:
            blur += 8 * (quarter[2] - quarter[0]) / len(seen) ** 0.5 + 0.1 * row["median"]
        expect(row["median"] <= max(seen), f"the {name}'s time is longer than the host saw")
    return excess, blur


# ---- judging ----

class Judge:
    def __init__(self, options):
        self.options = options
        path = os.path.abspath(options.task)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        expect(text.count("\n") <= 60, "the task has more than 60 lines")
        self.task = task = Task(text, options.cpu)
        self.compiler = compiler = Compiler(options)
        task.limits.update({k: getattr(options, k) for k in ("compile", "run")
                            if getattr(options, k)})
        try:
            image, names, _, _ = module(compiler, task, text, task, {**task.limits, "compile": 60})
        except Wrong as error:
            raise Wrong(f"the baseline: {error}") from error
        self.baseline = (task, names)
        if options.compile_only:
            return
        name = re.sub(r"\W", "_", os.path.basename(path))
        self.files = tempfile.TemporaryDirectory(  # pylint: disable=consider-using-with
            prefix="judge-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.image = os.path.join(self.files.name, "baseline")
        with open(self.image, "wb") as file:
            file.write(image)
        launches = compiler.keep(f"{name}.launches", launchers(
            task.checks, task.buffers, task.cases[0], text, False))
        objects = compiler.link([compiler.object()])
        self.runner = compiler.make("runner", f"{HERE}/runner.cu", *objects)
        self.referee = compiler.make(f"referee_{name}", f"{HERE}/referee.cu", *objects,
                                     f'-DJUDGE_TASK="{path}"', f'-DJUDGE_LAUNCHES="{launches}"',
                                     newer=(path, launches))

    def compile(self, path):
        """What is known of a submission before it runs."""
        found = {"file": path, "accepted": False, "compiled": False, "judged": True, "reason": "",
                 "points": 0}
        began = time.monotonic()
        try:
            expect(os.path.getsize(path) <= 1 << 20, "the file has more than 1 MiB")
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            submission = Submission(text)
            image, names, same, said = module(self.compiler, submission, text, self.task,
                                              self.task.limits)
            sides = {BASELINE: self.baseline, SUBMISSION: (submission, names)}
            sides[CHECK] = self.task, [launch.name for launch in self.task.checks]
            plan = Plan(self.task, sides)
            found.update(compiled=True, machine_code=same, compiler=said, image=image, plan=plan)
        except (Wrong, OSError) as error:
            found["reason"] = str(error)
        found["compile_s"] = time.monotonic() - began
        return found

    def session(self, found, folder, timed):
        sides = (BASELINE, SUBMISSION) if timed else (SUBMISSION,)
        task, samples = self.task, self.options.samples if timed else 6
        cases = [", ".join(f"{k} = {v}" for k, v in case.items()) for case in task.cases]
        session = Session(cases[:1] if timed else cases,
                          max(m.count("/") + 1 for m in task.mixtures), sides)
        shared = [os.path.join(folder, name) for name in ("inputs", "outputs")]
        for path, role in zip(shared, "io"):
            with open(path, "wb") as file:
                file.truncate(found["plan"].most[role])
        deadline = time.monotonic() + task.limits["run"]
        lines = found["plan"].lines
        cores = os.cpu_count() or 1 if self.options.cpu else 1  # all may work on a kernel
        referee = Program("referee", [self.referee, *shared, *task.mixtures], folder, lines, None)
        try:
            runner = Program(
                "runner", [self.runner, *shared, self.image if timed else "-",
                           os.path.join(folder, "submission"), str(samples)], folder, lines,
                limit(task.limits["run"] * 2 * cores, *(
                    (MOST_MEMORY + cores * A_THREAD, 0) if self.options.cpu else (None, None))))
            try:
                session.run(runner, referee, deadline)
            finally:
                runner.close()
                found["printed"] = runner.printed.decode(errors="replace")
        finally:
            referee.close()
        return session

    def run(self, found):
        """All sessions of what was compiled: first each size is checked, then one is timed."""
        image, began = found.pop("image", b""), time.monotonic()
        if found["compiled"] and not self.options.compile_only:
            try:
                with tempfile.TemporaryDirectory(dir=self.files.name) as folder:
                    with open(os.path.join(folder, "submission"), "wb") as file:
                        file.write(image)
                    self.judge(found, folder)
            except Wrong as error:
                found["reason"] = str(error)
            except Missing as error:
                found.update(reason=f"not judged: {error}", judged=False)
        elif found["compiled"]:
            found["accepted"] = True
        found.pop("plan", None)
        found["run_s"] = time.monotonic() - began
        return found

    def judge(self, found, folder):
        found.update(wrong=[], flags=[])
        session = None
        for number in range(1 + self.options.sessions):
            for _ in range(2):
                session = self.session(found, folder, number > 0)
                if not session.disturbed():
                    break
            else:
                raise Missing("other programs on the GPU disturb it")
            for wrong in session.wrong:
                wrong["at"] = session.cases[wrong.pop("case")]
            found["wrong"] += session.wrong
            found["worst"] = max(found.get("worst", 0.0), session.worst)
            found["device"] = session.device
            if number == 0:
                accept(session, ["submission"] * len(self.task.cases), found["printed"])
                continue
            accept(session, ["alone", "baseline", "submission"], found["printed"])
            now, (excess, blur) = ratio(session), host_excess(session)
            expect(excess <= blur, f"its time is {excess * 1e6:.0f} us less than the host's clock "
                   f"says, which is right to {blur * 1e6:.0f} us")
            found["host_excess_s"] = max(found.get("host_excess_s", excess), excess)
            found["host_blur_s"] = max(found.get("host_blur_s", blur), blur)
            found["flags"] = sorted({*found["flags"], *session.rows[2]["flags"]})
            if "ratio" not in found or now < (found["ratio"], found["lo"], found["hi"]):
                found.update(zip(("ratio", "lo", "hi"), now))
                found["baseline_s"], found["median_s"] = (r["median"] for r in session.rows[1:])
        found["verdict"] = verdict(found["lo"], found["hi"])
        found.update(points=self.task.points_for(found["lo"]), accepted=True)


# ---- what is shown ----

def page(found, task, hides):
    """For one submission."""
    yield f"{os.path.basename(found['file'])}: {task.title}"
    if not found["compiled"]:
        yield f"not accepted, it could not be run:\n{found['reason']}"
    else:
        yield f"compiled in {found['compile_s']:.1f} s"
    for wrong in found.get("wrong", [])[:3]:
        off = f"off by up to {wrong['worst']:.3g} tolerances" if wrong["worst"] > 0 else "NaN"
        yield f"wrong at {wrong['at']}: {elements(wrong['count'])}, {off}"
        for some in wrong["some"]:
            yield f"    element {some['element']}: {some['is']:.9g}, right is {some['right']:.9g}"
    if found["compiled"] and not found["accepted"]:
        yield f"not accepted: {found['reason']}"
    if found.get("printed"):
        yield f"it prints: {found['printed'][:200]!r}"
    if "ratio" in found and found["accepted"]:
        yield f"right at all {len(task.cases)} sizes, off by up to {found['worst']:.2g} tolerances"
        yield (f"{found['ratio']:.3f} x the baseline's speed ({found['lo']:.3f} ... "
               f"{found['hi']:.3f}): {found['verdict']}; {found['median_s'] * 1e6:.2f} us, "
               f"baseline {found['baseline_s'] * 1e6:.2f} us")
        yield f"flags: {' '.join(found['flags']) or 'none'}"
        yield f"points: {found['points']}"
    if not hides:
        yield "note: no unshare here: the compiler could read this machine's files"


def table(all_found):
    """For many: best first, equal where intervals overlap, the same machine code named."""
    judged = sorted((f for f in all_found if f["accepted"] and "ratio" in f),
                    key=lambda f: -f["ratio"])
    rank, at, leads = 0, 0, None
    for at, found in enumerate(judged, 1):
        if leads is None or found["hi"] < leads["lo"]:
            rank, leads = at, found
        found["rank"] = rank
    for found in all_found:
        code = found.get("machine_code")
        found["same_as"] = [os.path.basename(f["file"]) for f in all_found
                            if code and f is not found and f.get("machine_code") == code]
    yield "rank  speed  interval         points  submission"
    for found in judged + [f for f in all_found if f not in judged]:
        name = os.path.basename(found["file"])
        same = f" (same machine code as {', '.join(found['same_as'])})" if found["same_as"] else ""
        if "rank" in found:
            interval = f"{found['lo']:.3f} ... {found['hi']:.3f}"
            yield (f"{found['rank']:4}  {found['ratio']:5.3f}  {interval:15}  "
                   f"{found['points']:6}  {name}{same}")
        else:
            what = "compiles" if found["accepted"] else "not accepted"
            lines = found["reason"].strip().splitlines() or [""]
            why = next((line for line in lines if "error" in line.lower()), lines[0])
            yield f"   -      -  {what:15}  {found['points']:6}  {name}{same}  {why}"


def printable(text):
    """What compilers quote of a source could move a terminal's cursor over the verdict."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def without_bounds(x):
    """JSON has no infinity."""
    if isinstance(x, dict):
        return {k: without_bounds(v) for k, v in x.items()}
    if isinstance(x, list):
        return [without_bounds(v) for v in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x


def judge_all(judge, paths):
    """Compiles what is next, while one after the other runs, which two cores are left for; so many
    at a time that there is memory for all of them."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    jobs = max(1, min((os.cpu_count() or 2) - 2, memory // MOST_MEMORY))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for compiled in [pool.submit(judge.compile, path) for path in paths]:
            yield judge.run(compiled.result())


def arguments():
    parser = argparse.ArgumentParser(prog="judge.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("submission", nargs="?",
                        help="a file, or a folder of them; without, builds what the task needs")
    parser.add_argument("--cpu", action="store_true", help="no verdict, and no sandbox")
    parser.add_argument("--compile-only", action="store_true", help="and compare the parameters")
    parser.add_argument("--json", metavar="FILE", help="all that is known, as JSON")
    parser.add_argument("--points", type=int, default=0, help="that are asked for")
    parser.add_argument("--samples", type=int, default=SAMPLES,
                        help=f"of each kernel in a session; {SAMPLES}")
    parser.add_argument("--sessions", type=int, default=2, help="that time it; 2")
    parser.add_argument("--compile", type=int, help="seconds, in place of the task's")
    parser.add_argument("--run", type=int, help="seconds of a session, in place of the task's")
    parser.add_argument("--arch", help="for which GPU to compile: sm_90, gfx90a")
    parser.add_argument("--build", metavar="FOLDER", help="for the judge's own programs")
    options = parser.parse_intermixed_args()
    if options.samples < 6 or options.sessions < 1:
        parser.error("at least 6 samples and one session")
    return options


def main():
    options = arguments()
    folder = os.path.isdir(options.submission or "")
    paths = sorted(glob.glob(os.path.join(glob.escape(options.submission), "*.cu"))
                   ) if folder else [options.submission]
    try:
        judge = Judge(options)
        if not options.submission:
            return 0
        expect(paths and all(map(os.path.isfile, paths)),
               f"{options.submission}: {'no *.cu there' if folder else 'no such file'}")
        if options.cpu:
            print("on the CPU: this tries the task. It is no verdict, and no sandbox: host code in "
                  "the file can run")
        all_found = []
        for found in judge_all(judge, paths):
            all_found.append(found)
            if not folder:
                print(printable("\n".join(page(found, judge.task, judge.compiler.hides))))
        if folder:
            print(printable("\n".join(table(all_found))))
            if options.cpu:
                print("on the CPU the same machine code is not known")
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(without_bounds({
                    "task": judge.task.title, "backend": judge.compiler.backend,
                    "is_verdict": not options.cpu and not options.compile_only,
                    "files_hidden": judge.compiler.hides,
                    "submissions": all_found}), file, indent=1)
    except (Wrong, Missing, OSError) as error:
        print(f"judge: {error}", file=sys.stderr)
        return 2
    if not all(f["judged"] for f in all_found):
        return 2
    return 0 if all(f["accepted"] and f["points"] >= options.points for f in all_found) else 1


if __name__ == "__main__":
    sys.exit(main())
