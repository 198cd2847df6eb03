"""files.py - what judge.py reads: expressions, the directives of tasks and submissions, and the
code objects that compilers write."""
import hashlib
import re
import struct

MOST = (1 << 64) - 1
SIZES = {"float": 4, "double": 8, "int": 4, "uint": 4}
LONGEST = 2000  # characters of a directive: what reads it takes the square of that
LONGEST_NAME = 511  # characters of a kernel's: judge.h takes what is beyond for the next number
UNITS = {"": 1, "s": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CASTS = {"int": ("int", 4), "uint": ("unsigned", 4), "int64": ("int64_t", 8), "float": ("float", 4)}
SAME = {"i": "int", "j": "uint", "f": "float", "m": "uint64", "y": "uint64", "l": "int64",
        "x": "int64"}  # mangled types of values


class Wrong(Exception):
    """A file is not as it has to be: its author can mend it."""


def expect(right, why):
    if not right:
        raise Wrong(why)


class Expression:
    """Unsigned 64-bit integers: + - * / % << ( ) min max ceil_div, numbers, names."""
    LEVELS = [("<<",), ("+", "-"), ("*", "/", "%")]
    CALLS = {"min": min, "max": max, "ceil_div": lambda a, b: -(-a // b)}

    def __init__(self, text, names):
        self.text, self.names = text.strip(), names
        self.tokens = re.findall(r"\d+|[A-Za-z_]\w*|<<|\S", self.text)

    def value(self):
        value = self.level(0)
        expect(not self.tokens, f"'{self.text}': '{''.join(self.tokens[:1])}' is unexpected")
        return value

    def level(self, depth):
        if depth == len(self.LEVELS):
            return self.single()
        value = self.level(depth + 1)
        while self.tokens and self.tokens[0] in self.LEVELS[depth]:
            operator = self.tokens.pop(0)
            value = self.apply(operator, value, self.level(depth + 1))
        return value

    def apply(self, operator, a, b):
        expect(b or operator not in ("/", "%", "ceil_div"), f"'{self.text}': division by zero")
        expect(operator != "<<" or b < 64, f"'{self.text}': a shift by {b}")
        value = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a // b,
                 "%": lambda: a % b, "<<": lambda: a << b}.get(
                     operator, lambda: self.CALLS[operator](a, b))()
        expect(value >= 0, f"'{self.text}': {a} - {b} is below zero")
        expect(value <= MOST, f"'{self.text}': {a} {operator} {b} is more than 64 bits hold")
        return value

    def single(self):
        token = self.tokens.pop(0) if self.tokens else ""
        if token == "(":
            value = self.level(0)
            self.need(")")
        elif token in self.CALLS:
            self.need("(")
            a = self.level(0)
            self.need(",")
            value = self.apply(token, a, self.level(0))
            self.need(")")
        elif token.isdecimal() and token.isascii():
            value = int(token)
            expect(value <= MOST, f"'{self.text}': {token} is more than 64 bits hold")
        else:
            expect(token in self.names, f"'{self.text}': '{token}' is no size: there are "
                   f"{', '.join(self.names) or 'none'}")
            value = self.names[token]
        return value

    def need(self, token):
        expect(self.tokens and self.tokens.pop(0) == token, f"'{self.text}': '{token}' is missing")


def evaluate(text, sizes):
    expect(len(text) <= 1000, "an expression is longer than 1000 characters")
    try:
        return Expression(text, sizes).value()
    except RecursionError as error:
        raise Wrong("an expression is nested too deep") from error


def split(text, at=","):
    """Parts of a list, whose commas in brackets count for none."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "({") - (c in ")}")
        expect(depth >= 0, f"launch: '{text}': a bracket is closed that was not opened")
        if c == at and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()] if part.strip() or parts else []


class Launch:
    """NAME<<<grid, block[, shared_bytes]>>>(argument, ...)"""

    def __init__(self, text):
        found = re.fullmatch(r"(\w+)\s*<<<(.+?)>>>\s*\((.*)\)\s*;?", text.strip())
        expect(found, f"launch: '{text.strip()}' is not NAME<<<grid, block>>>(argument, ...)")
        self.name, self.arguments = found[1], split(found[3])
        expect(len(self.name) <= LONGEST_NAME,
               f"launch: a name has more than {LONGEST_NAME} characters")
        self.how = split(found[2])
        expect(len(self.how) in (2, 3), f"launch: {self.name}: not grid, block, shared bytes")
        expect(len(self.arguments) <= 32, f"launch: {self.name}: more than 32 arguments")

    def extent(self, sizes):
        """Grid, block, shared bytes: seven numbers."""
        numbers = []
        for text in self.how[:2]:
            parts = split(text[1:-1]) if text[:1] == "{" and text[-1:] == "}" else [text]
            expect(1 <= len(parts) <= 3, f"launch: {self.name}: '{text}' has not 1 to 3 extents")
            numbers += ([evaluate(part, sizes) for part in parts] + [1, 1])[:3]
        return numbers + [evaluate(self.how[2], sizes) if len(self.how) == 3 else 0]

    def argument(self, text, sizes):
        """(the type of a value, its bits)"""
        cast = re.fullmatch(r"(\w+)\s*\((.*)\)", text)
        if not cast or cast[1] not in CASTS:
            expect(text in sizes or not re.fullmatch(r"[A-Za-z_]\w*", text),
                   f"launch: {self.name}: '{text}' is no input, output, scratch memory or size")
            return "uint64", evaluate(text, sizes)
        name = cast[1]
        if name == "float":
            number = re.fullmatch(r"\s*(-?\d+(\.\d*)?([eE][-+]?\d+)?)\s*", cast[2])
            try:
                bits = struct.pack("<f", float(number[1]) if number else evaluate(cast[2], sizes))
            except OverflowError as error:
                raise Wrong(f"launch: {self.name}: '{text}' is more than a float holds") from error
            return name, struct.unpack("<I", bits)[0]
        value = evaluate(cast[2], sizes)
        bits = {"int": 31, "uint": 32, "int64": 63}[name]
        expect(value < 1 << bits,
               f"launch: {self.name}: '{text}': {value} is more than {name} holds")
        return name, value


def directives(text, known, only_head=False):
    """[(key, text)] of lines '// key: text'"""
    found = []
    for line in text.splitlines():
        match = re.match(r"\s*//\s*([a-z]+):(.*)", line)
        if match and match[1] in known:
            value = match[2].strip()
            expect(len(value) <= LONGEST, f"{match[1]}: more than {LONGEST} characters")
            found.append((match[1], value))
        elif match and only_head:
            raise Wrong(f"'{match[1]}:' is no directive: there are {', '.join(known)}")
        elif only_head and line.strip() and not line.lstrip().startswith("//"):
            break
    return found


def assignments(text):
    """{name: [number, ...]} of 'a = 1, 2, b = 3'"""
    lists = {}
    name = None
    for part in split(text):
        found = re.fullmatch(r"(?:([A-Za-z_]\w*)\s*=\s*)?(\d+)", part)
        expect(found and (found[1] or name), f"'{part}' is not NAME = NUMBER")
        if found[1]:
            name = found[1]
            expect(name not in lists, f"'{name}' is set twice")
            lists[name] = []
        lists[name].append(evaluate(found[2], {}))
    return lists


def zipped(text):
    lists = assignments(text)
    expect(lists and len({len(values) for values in lists.values()}) == 1,
           f"'{text}': each name needs as many numbers")
    return [dict(zip(lists, values)) for values in zip(*lists.values())]


class Submission:
    """A file's launches and scratch memory."""

    def __init__(self, text, known=("launch", "scratch"), only_head=False):
        self.lines = directives(text, known, only_head)
        launches = self.all("launch")
        expect(launches, "it has no line '// launch: NAME<<<grid, block>>>(argument, ...)'")
        expect(len(launches) <= 16, "it has more than 16 launches")
        self.launches = [Launch(value) for value in launches]
        self.scratch = {}
        for value in self.all("scratch"):
            name, _, size = value.partition(" ")
            expect(re.fullmatch(r"[A-Za-z_]\w*", name) and size and name not in self.scratch,
                   f"scratch: '{value}' is not NAME BYTES, each name once")
            self.scratch[name] = size
        expect(len(self.scratch) <= 8, "it has more than 8 scratch buffers")

    def all(self, key):
        return [value for k, value in self.lines if k == key]


class Task(Submission):
    """Sizes, inputs, outputs, check, limits, points; and a baseline, launched like a submission."""
    KEYS = ("task", "size", "also", "cpu", "input", "output", "reference", "scratch", "bytes",
            "flop", "launch", "check", "points", "limits")

    def __init__(self, text, cpu):
        super().__init__(text, self.KEYS, True)
        for key in ("task", "size", "also", "cpu", "output", "bytes", "check"):
            expect(self.all(key), f"it has no line '// {key}:'")
        self.title = self.all("task")[0]
        timed = zipped(self.all("cpu" if cpu else "size")[0])
        expect(len(timed) == 1, "'size:' and 'cpu:' are one number each")
        self.cases = timed + zipped(self.all("also")[0])
        expect(len(self.cases) <= 32, "'also:' has more than 31 sizes")
        expect(all(set(case) == set(timed[0]) for case in self.cases),
               "'size:', 'cpu:' and 'also:' have different names")
        self.checks = [Launch(value) for value in self.all("check")]
        self.buffers = {}  # name: (role, type, count)
        self.mixtures = []
        for key, role in (("input", "i"), ("output", "o"), ("reference", "r")):
            for value in self.all(key):
                found = re.fullmatch(r"(\w+) (\w+)\[(.*)\](.*)", value)
                expect(found and found[2] in SIZES and found[1] not in self.buffers,
                       f"{key}: '{value}' is not NAME TYPE[COUNT], of {', '.join(SIZES)}")
                self.buffers[found[1]] = (role, found[2], found[3])
                if role == "i":
                    self.mixtures.append(self.mixture(found[4]))
        self.buffers["errors"] = ("e", "errors", "1")
        expect(self.mixtures, "it has no line '// input:'")
        self.limits = {"compile": 60, "run": 60, "scratch": 256 << 20}
        for part in split(",".join(self.all("limits"))):
            found = re.fullmatch(r"(\w+) (\d+) ?(\w*)", part)
            expect(found and found[1] in self.limits and found[3] in UNITS,
                   f"limits: '{part}': compile, run or scratch, a number, a unit")
            self.limits[found[1]] = int(found[2]) * UNITS[found[3]]
        self.points = []
        for part in split(",".join(self.all("points"))):
            found = re.fullmatch(r"(\d+) at (\d+(?:\.\d+)?)", part)
            expect(found, f"points: '{part}' is not POINTS at RATIO")
            self.points.append((float(found[2]), int(found[1])))

    def mixture(self, text):
        alternatives = []
        for way in re.split(r"\bor\b", text):
            kinds = []
            for part in split(way):
                number = r"\s*(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*"
                found = re.fullmatch(rf"(uniform|normal|wide)\({number},{number}\)", part)
                expect(found, f"input: '{part}' is not uniform(a, b), normal(mean, sd) or "
                       "wide(least, most)")
                kinds.append(":".join(found.groups()))
            expect(1 <= len(kinds) <= 8, f"input: '{text}': 1 to 8 distributions")
            alternatives.append(",".join(kinds))
        return "/".join(alternatives)

    def points_for(self, lo):
        """What the lower end of the ratio's interval reaches: in doubt, less."""
        return max([points for at, points in self.points if lo >= at], default=0)


# ---- code objects ----

class Code:
    """An ELF file, of which only names, kernels and machine code are looked at."""

    def __init__(self, image):
        self.image, self.sections = image, []
        try:
            expect(image[:5] == b"\x7fELF\x02", "the compiler has written no 64-bit ELF")
            at, = struct.unpack_from("<Q", image, 40)
            size, count, names = struct.unpack_from("<HHH", image, 58)
            heads = [struct.unpack_from("<IIQQQQIIQQ", image, at + size * i) for i in range(count)]
            for head in heads:
                name = self.text(heads[names][4] + head[0])
                body = b"" if head[1] == 8 else image[head[4]:head[4] + head[5]]
                self.sections.append((name, head, body))
        except (struct.error, IndexError, ValueError, OverflowError) as error:
            raise Wrong("the compiler has written half an ELF") from error

    def text(self, at):
        return self.image[at:self.image.index(b"\0", at)].decode(errors="replace")

    def kernels(self):
        names = [name[len(".nv.constant0."):] for name, _, _ in self.sections
                 if name.startswith(".nv.constant0.")]
        for name, head, body in self.sections:
            if name == ".symtab" and not names:  # AMD's
                for i in range(0, len(body) - 23, 24):
                    symbol = self.text(self.sections[head[6]][1][4] +
                                       struct.unpack_from("<I", body, i)[0])
                    names += [symbol[:-3]] if symbol.endswith(".kd") else []
        return names

    def variables(self):
        """Bytes of __device__ variables."""
        return sum(head[5] for name, head, _ in self.sections
                   if name in (".nv.global", ".nv.global.init", ".bss", ".data"))

    def same(self):
        """A hash of the machine code, whatever things are called."""
        bodies = sorted(body for name, _, body in self.sections if name.startswith(".text"))
        return hashlib.sha256(b"".join(hashlib.sha256(b).digest() for b in bodies)).hexdigest()

    def find(self, plain):
        """The kernel's name in the object."""
        named = [k for k in self.kernels() if k == plain or signature(k)[0] == plain]
        expect(named, f"launch: there is no kernel '{plain}': there are "
               f"{', '.join(signature(k)[0] for k in self.kernels()) or 'none'}")
        expect(len(named) == 1, f"launch: '{plain}' has several forms: give each its own name")
        expect(len(named[0]) <= LONGEST_NAME,
               f"launch: '{plain}', mangled, has more than {LONGEST_NAME} characters")
        return named[0]

    def parameters(self, kernel):
        """[bytes of each parameter], or None where that isn't known."""
        for name, _, body in self.sections:
            if name == f".nv.info.{kernel}":
                sizes, total, ends, at = {}, 0, 0, 0
                while at + 4 <= len(body):  # attributes: format, number, and a length or a value
                    form, number, length = struct.unpack_from("<BBH", body, at)
                    if form == 4 and number in (0x17, 0x45) and length == 12:
                        _, index, offset, size = struct.unpack_from("<IHHI", body, at + 4)
                        sizes[index] = size >> 18 if number == 0x17 else size
                        ends = max(ends, offset + sizes[index])
                    elif (form, number) == (3, 0x19):  # of all of them
                        total = length
                    at += 4 + (length if form == 4 else 0)
                expect(ends == total, f"of {kernel}'s {total} bytes of parameters {ends} are known")
                return [sizes.get(i, 0) for i in range(max(sizes, default=-1) + 1)]
        return None


def signature(mangled):
    """(plain name, [types of the parameters], 'P' a pointer; None where they aren't known)"""
    found = re.match(r"_Z(N?)(?=\d)", mangled)
    if not found:
        return mangled, None
    rest, path = mangled[found.end():], []
    while rest[:1].isdecimal() and (found[1] or not path):
        digits = re.match(r"\d{1,9}", rest)[0]  # int() takes 4300 of them at most
        rest = rest[len(digits):]
        path.append(rest[:int(digits)])
        rest = rest[int(digits):]
    if rest[:1] == "I":  # a template
        return path[-1], None
    try:
        return path[-1], list(types(rest[bool(found[1]):], path[:-1]))
    except (IndexError, ValueError, RecursionError):
        return path[-1], None


def types(text, seen):
    """Of the Itanium C++ ABI what kernels have: pointers, numbers, names, what was there before."""
    at = 0

    def one():
        nonlocal at
        c = text[at]
        at += 1
        if c in "PROKV":
            inner = one()
            seen.append("P" if c in "PRO" else inner)
            return seen[-1]
        if c == "S":
            end = text.index("_", at)
            number = int(text[at:end], 36) + 1 if end > at else 0
            at = end + 1
            return seen[number]
        if c.isdecimal():
            digits = re.match(r"\d{1,9}", text[at - 1:])[0]
            at += len(digits) - 1 + int(digits)
            seen.append(text[at - int(digits):at])
            return seen[-1]
        if c not in "bcahstijlmxyfdnov":
            raise ValueError(c)
        return c

    while text[at:] not in ("", "v"):
        yield one()


def check_arguments(code, launch, buffers, sizes):
    """The kernel's name in the object, if its parameters are what the launch passes."""
    kernel = code.find(launch.name)
    kinds, widths = signature(kernel)[1], code.parameters(kernel)
    here = f"launch: {launch.name}"
    for known in (kinds, widths):
        expect(known is None or len(known) == len(launch.arguments),
               f"{here}: {len(launch.arguments)} arguments, but {len(known or ())} parameters")
    for i, text in enumerate(launch.arguments):
        is_buffer = text in buffers
        kind = "pointer" if is_buffer else launch.argument(text, sizes)[0]
        width = CASTS[kind][1] if kind in CASTS else 8
        has = {"P": "pointer"}.get(kinds[i], SAME.get(kinds[i], kinds[i])) if kinds else kind
        fits = has == kind and (widths is None or widths[i] == width)
        casts = [c for c in CASTS if c == has] if kinds else [
            c for c in CASTS if widths and CASTS[c][1] == widths[i] and not is_buffer]
        mend = f": write {' or '.join(f'{c}({text})' for c in casts)}" if casts else ""
        has = has if kinds else f"of {widths[i] if widths else '?'} bytes"
        expect(fits, f"{here}: argument {i + 1}, '{text}', is {kind}, the parameter {has}{mend}")
    return kernel
