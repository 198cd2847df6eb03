"""Holds gpumb.h to its layers: within the implementation calls go downwards, that is to sections
further up in the file, a section changes what another owns of a context, and another's variables
of the file, through its functions alone, and functions are declared ahead of their definitions in
BACKEND only.

    tests/layers.py [gpumb.h]                 prints what goes upwards, or is changed by others
    tests/layers.py --matrix [gpumb.h]        all calls, as a table
    tests/layers.py --breaks [gpumb.h]        whether what is broken on purpose is seen

What kernels of users call on the CPU stands before the implementation, and is left out. A function
is what begins in the first column and has its braces there, as clang-format leaves it.
"""
import re
import sys
from collections import Counter

NAME = re.compile(r"\b[A-Za-z_]\w*\b")
CONTEXT = r"(?:\bg|\bowner|\bgpumbi_newest|\bgpumbi_current|\bgpumbi_fallback)->"
PASSES = r"(?!\.(?:next|single)\b|\.lane\[)"  # samplers and descriptions: see struct gpumb
PATH = r"(?:\.\w+|\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\])*"
ASSIGNED = r"\s*(?:\+\+|--|[-+|&^*/]?=(?!=)|<<=|>>=)"
WRITTEN = (r"(?:\+\+|--|\b(?:memset|memcpy|memmove|snprintf|GPUMBI_FORMAT|gpumbi_copy_\w+"
           r"|gpumbi_format|gpumbi_append)\(&?)")
# a pointer to what is not const
ALIAS = r"(?:(?<!const )\b\w+ \*(?:const )?\w+|\*const \w+\[\]) = [^;]*?&"


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def code_of(text):
    """The text without comments, strings and the bodies of macros, line for line."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def sections_of(lines):
    """The section of each line, and the sections in their order."""
    found, order, now = [], [], ""
    for number, line in enumerate(lines):
        if line.startswith("/* =====") and number + 1 < len(lines):
            now = lines[number + 1][3:].strip()
            order.append(now)
        found.append(now)
    return found, order


def functions_of(code):
    """name -> [(first line, last line)]"""
    found = {}
    at = 0
    while at < len(code):
        if code[at] == "{":
            begin = at
            while begin and code[begin - 1].strip() and not code[begin - 1].startswith("}"):
                begin -= 1
            head = re.sub(r"GPUMBI_PRINTF\([^)]*\)|__attribute__\(\(.*?\)\)", "",
                          " ".join(code[begin:at]))
            name = re.search(r"\b([A-Za-z_]\w*)\s*\(", head)
            end = code.index("}", at)
            if name:
                found.setdefault(name.group(1), []).append((begin, end))
            at = end
        at += 1
    return found


def owners_of(text):
    """member of struct gpumb -> the section that owns it, or that it names first"""
    body = text[text.index("\nstruct gpumb {"):]
    body = body[:body.index("\n};")]
    owners = {member: [section] for section, member in re.findall(
        r"^    struct +\{ +/\* ([A-Z][A-Z ]+[A-Z]).*?^    \} (\w+);", body, re.M | re.S)}
    before = re.split(r"\n    struct +\{", body)[0].split("\n")[2:]
    return {**owners, **declared(before, lambda _: "CONTEXT")}


def declared(lines, section_of):
    """name -> the sections that its comment, behind it or in the line before, begins with, else
    that of its line; of variables, one a line or several"""
    found, above = {}, []
    for number, (line, code) in enumerate(zip(lines, code_of("\n".join(lines)).split("\n"))):
        comment = re.search(r"/\* (.*)", line)
        named = re.findall(r"(?:^|, )([A-Z][A-Z ]+[A-Z])(?=[:,])", comment[1] if comment else "")
        if code.strip():
            names = re.findall(r"(\w+)(?:\[\w+\])*(?: = [^;]*)?[,;]", code)
            found.update(dict.fromkeys(names, named or above or [section_of(number)]))
        above = named if not code.strip() else []
    return found


def statics_of(lines, code, section, inside):
    """Variables of the file, of whatever type; those that are const aren't."""
    variables = {number for number, line in enumerate(code) if number not in inside and re.match(
        r"static (?!const\b|inline\b)[^(=]*?\b\w+(?:\[\w+\])*(?: = .*)?;\s*$", line)}
    shown = [line if number in variables or line.startswith("/*") else ""
             for number, line in enumerate(lines)]
    return declared(shown, lambda number: section[number])


# Lines for a function of FILES: each breaks a rule ...
BREAKS = """g->rows.count = 0;
++g->rows.count;
size_t *n = &g->rows.count;
double *const rate[] = {&g->device.peak_bytes_per_s};
g->columns.name[g->columns.count - 1][0] = 0;
g->device.ordinal++;
g->region.active = NULL;
g->interleave.lane = NULL;
memset(&g->sweep, 0, sizeof g->sweep);
GPUMBI_FORMAT(g->why, sizeof g->why, format);
snprintf(g->trouble, sizeof g->trouble, why);
gpumbi_parent = 1;
gpumbi_managed_bytes += 2;
gpumbi_start(g);
""".splitlines()
# ... and none of these does.
HOLDS = """const gpumb_device *d = &g->device;
if (g->rows.count == 3)
g->sinks.broken = 1;
g->interleave.lane[0].phase = GPUMBI_SAMPLE;
g->region.active->phase = GPUMBI_SAMPLE;
gpumbi_crash_files[0] = 0;
""".splitlines()


def fires(text):
    """What of these is not judged as it has to be."""
    head, body = re.split(r"(?<=\ngpumbi_files_closing\(gpumb \*g\)\n{\n)", text.replace(
        "inline void gpumbi_files_closing", "inline void\ngpumbi_files_closing"))
    wrong, *_ = judge("\n".join([head[:-1], *BREAKS, *HOLDS, body]), "")
    first = head.count("\n") + 1
    found = {int(line.split(":")[1]) - first for line in wrong}
    return [line for number, line in enumerate(BREAKS + HOLDS)
            if (number in found) != (number < len(BREAKS))]


def judge(text, path):
    """What is wrong, all calls, the sections by their rank, and what is declared ahead."""
    lines, code = text.split("\n"), code_of(text).split("\n")
    section, order = sections_of(lines)
    layers = order[order.index("IMPLEMENTATION") + 1:]
    rank = {name: number for number, name in enumerate(layers)}
    functions = functions_of(code)
    home = {}  # the lowest section in which a function is defined
    for name, places in functions.items():
        inside = [section[first] for first, _ in places if section[first] in rank]
        if inside:
            home[name] = min(inside, key=rank.get)
    owners = owners_of(text)
    inside = {n for places in functions.values() for a, b in places for n in range(a, b + 1)}
    statics = {name: homes for name, homes in statics_of(lines, code, section, inside).items()
               if not set(homes) - set(rank)}
    members = "|".join(owners)
    owners.update(statics)
    unknown = sorted({name for names in owners.values() for name in names} - set(rank))
    wrong = [f"struct gpumb names a section that is not there: {name}" for name in unknown]
    calls = Counter()
    state = (rf"(?:{CONTEXT}(?P<member>{members})\b{PASSES}|"
             rf"\b(?P<static>{'|'.join(statics)})\b){PATH}")
    change = [re.compile(p) for p in (state + ASSIGNED, WRITTEN + state + "(?!->)",
                                      ALIAS + state + "[;,}]")]
    for name, places in functions.items():
        for first, last in places:
            here = section[first]
            if here not in rank:
                continue
            for number in range(first, last + 1):
                for match in NAME.finditer(code[number]):
                    other = match.group(0)
                    before = code[number][:match.start()]
                    if other == name or other not in home or before.endswith(("->", ".")):
                        continue
                    calls[here, home[other]] += 1
                    if rank[home[other]] > rank[here]:
                        wrong.append(f"{path}:{number + 1}: {here} calls {home[other]}: "
                                     f"{name}() {other}()")
                for pattern in change:
                    for match in pattern.finditer(code[number]):
                        owner = owners[match.group("member") or match.group("static")]
                        if here not in owner:
                            wrong.append(f"{path}:{number + 1}: {here} changes what "
                                         f"{owner[0]} owns: {lines[number].strip()}")
    ahead = [number + 1 for number, line in enumerate(code)
             if number not in inside and section[number] in rank and section[number] != "BACKEND"
             and re.match(r"static .*\bgpumbi_\w+\(", line) and "=" not in line
             and not re.search(r"\(\*", line) and line.rstrip().endswith((";", ","))]
    if len(ahead) > 6:
        wrong.append(f"{path}: {len(ahead)} functions are declared ahead of their definitions, "
                     f"in lines {', '.join(map(str, ahead))}: at most 6 outside of BACKEND")
    return wrong, calls, rank, ahead


def show_matrix(calls, rank, ahead):
    used = [name for name in rank if any(name in pair for pair in calls)]
    print("calls from (down) to (across):",
          *(f"{number + 1} {name}" for number, name in enumerate(used)), sep="\n    ")
    width = max(map(len, used))
    print(" " * width, *(f"{number + 1:4}" for number in range(len(used))))
    for here in used:
        print(f"{here:{width}}", *(f"{calls[here, there] or '.':>4}" for there in used))
    print(f"{sum(calls.values())} calls, "
          f"{sum(n for (a, b), n in calls.items() if rank[b] > rank[a])} upwards, "
          f"{len(ahead)} functions declared ahead outside of BACKEND")


def main():
    what = [a for a in sys.argv[1:] if a in ("--matrix", "--breaks")]
    paths = [a for a in sys.argv[1:] if a not in what]
    path = paths[0] if paths else "gpumb.h"
    if len(paths) > 1 or path.startswith("-"):
        sys.exit(__doc__)
    with open(path, encoding="ascii") as file:
        text = file.read()
    wrong, calls, rank, ahead = judge(text, path)
    if "--matrix" in what:
        show_matrix(calls, rank, ahead)
        return 0
    if "--breaks" in what:
        wrong = [f"not judged as it has to be: {line}" for line in fires(text)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
