"""Holds gpumb.h to its layers: within the implementation calls go downwards, that is to sections
further up in the file, a section changes another's part of a context through its functions alone,
and functions are declared ahead of their definitions in BACKEND only.

    tests/layers.py [--matrix] [gpumb.h]      prints what goes upwards, or all calls as a table

What kernels of users call on the CPU stands before the implementation, and is left out. A function
is what begins in the first column and has its braces there, as clang-format leaves it.
"""
import re
import sys
from collections import Counter

NAME = re.compile(r"\b[A-Za-z_]\w*\b")
CONTEXT = r"(?:\bg|\bowner|\bgpumbi_newest|\bgpumbi_current|\bgpumbi_fallback)->"
ASSIGNED = r"[\w.\[\]]*\s*(?:\+\+|--|[-+|&^*/]?=(?!=)|<<=|>>=)"
WRITTEN = (r"(?:(?:\+\+|--)|(?:memset|memcpy|memmove|gpumbi_copy_text|gpumbi_format|gpumbi_append)"
           r"\(&?)")


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
    owners = {member: section for section, member in re.findall(
        r"^    struct +\{ +/\* ([A-Z][A-Z ]+[A-Z]).*?^    \} (\w+);", body, re.M | re.S)}
    before = body[:body.index("\n    struct {")]  # what the context itself is in
    owners.update({member: "CONTEXT" for member in re.findall(r"^    int (\w+);", before, re.M)})
    return owners


def main():
    arguments = [a for a in sys.argv[1:] if a != "--matrix"]
    path = arguments[0] if arguments else "gpumb.h"
    with open(path, encoding="ascii") as file:
        text = file.read()
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
    unknown = sorted(set(owners.values()) - set(rank))
    wrong = [f"struct gpumb names a section that is not there: {name}" for name in unknown]
    calls = Counter()
    change = [re.compile(rf"{CONTEXT}({'|'.join(owners)})\b{ASSIGNED}"),
              re.compile(rf"{WRITTEN}{CONTEXT}({'|'.join(owners)})\b")]
    inside = set()
    for name, places in functions.items():
        for first, last in places:
            here = section[first]
            inside.update(range(first, last + 1))
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
                        owner = owners[match.group(1)]
                        if owner != here:
                            wrong.append(f"{path}:{number + 1}: {here} changes what {owner} owns: "
                                         f"{lines[number].strip()}")
    ahead = [number + 1 for number, line in enumerate(code)
             if number not in inside and section[number] in rank and section[number] != "BACKEND"
             and re.match(r"static .*\bgpumbi_\w+\(", line) and "=" not in line
             and not re.search(r"\(\*", line) and line.rstrip().endswith((";", ","))]
    if len(ahead) > 6:
        wrong.append(f"{path}: {len(ahead)} functions are declared ahead of their definitions, "
                     f"in lines {', '.join(map(str, ahead))}: at most 6 outside of BACKEND")
    if "--matrix" in sys.argv:
        used = [name for name in layers if any(name in pair for pair in calls)]
        print("calls from (down) to (across):",
              *(f"{number + 1} {name}" for number, name in enumerate(used)), sep="\n    ")
        width = max(map(len, used))
        print(" " * width, *(f"{number + 1:4}" for number in range(len(used))))
        for here in used:
            print(f"{here:{width}}", *(f"{calls[here, there] or '.':>4}" for there in used))
        print(f"{sum(calls.values())} calls, "
              f"{sum(n for (a, b), n in calls.items() if rank[b] > rank[a])} upwards, "
              f"{len(ahead)} functions declared ahead outside of BACKEND")
    elif wrong:
        print(*wrong, sep="\n")
    return 1 if wrong and "--matrix" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
