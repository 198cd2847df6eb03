#!/usr/bin/env python3
"""Writes one HTML file, which needs nothing else, from CSV and JSON files of gpumb's programs:
    python3 plots/report.py results --out results/report.html

Devices, findings (the notes of the JSON files), figures with values on hover, tables to sort and
filter, what each flag means, and the commands to measure again. With --overlay each input is set
beside the others: devices, or before and after. Exit code 2 where the input cannot be read, with
one line on stderr that says why and what to do.
"""

import argparse
import functools
import math
import re
import shlex
import statistics
import sys
from collections import Counter
from pathlib import Path

import passport
import rows as table
import svg
from families import axis_label, file_name, size, title_of, value_label
from rows import Problem, number, say, value
from svg import escape

ROOT = Path(__file__).resolve().parent.parent
OPEN_MAX = 24  # tables of more rows than this are opened by the reader, and not printed
NOTES_MAX = 10  # of more notes than this the rest is opened by the reader
# What facts of a device are called where their name in the JSON, without its unit, does not say it.
FACTS = {
    "arch": "architecture", "warp_size": "threads per warp", "l1": "L1 and shared memory",
    "l2": "L2", "sm_clock": "clock", "mem_clock": "memory clock", "bus_width": "memory bus",
    "ecc": "ECC", "peak": "theoretical memory bandwidth",
    "peak_source": "source of the theoretical bandwidth", "peak_fp32": "theoretical fp32",
    "link": "link to the host", "link_gbps": "bandwidth of the link, each way",
    "quantum": "step of the event clock", "event_pair": "cost of an event pair",
    "empty_kernel": "an empty kernel", "launch_interval": "between two launches in a stream",
    "graph_interval": "between two launches in a graph",
    "block_launch": "launch of one block of 256 threads more",
    "max_block": "threads per block, at most", "max_threads": "threads per multiprocessor, at most",
    "ceiling": "measured copy bandwidth",
}  # fmt: skip
FACT_UNITS = {  # by the end of the name
    "bytes": ("", size), "mhz": (", MHz", "{:g}".format), "bits": (", bit", str),
    "gbps": (", GB/s", "{:.5g}".format), "gflops": (", GFLOP/s", "{:.6g}".format),
    "s": (", \u00b5s", lambda v: f"{1e6 * v:.3g}"), "ecc": ("", lambda v: "on" if v else "off"),
}  # fmt: skip
NO_JSON = ["backend", "peak_gbps", "ceiling_gbps", "link", "link_gbps"]  # facts that rows have, too
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "\u00b5s"), (1e-9, "ns"))


def flags_of(header):
    """{flag: (meaning, advice)}, from the table that --explain prints: GPUMB_FLAGS in gpumb.h."""
    return {name: words for _, name, *words in table.listed("GPUMB_FLAGS", header)}


# ---- parts of a page ----


def words(text):
    """What gpumb says, as HTML, with the one sign of micro that the page has."""
    return escape(re.sub(r"(?<=\d)(\s?)us\b", "\\1\u00b5s", str(text)).replace("\u03bc", "\u00b5"))


class Anchors:
    """Ids of a page: of the same text the same, of others others."""

    def __init__(self):
        self.of, self.taken = {}, {"top", "tip"}

    def __call__(self, kind, text):
        if (kind, text) not in self.of:
            base = own = "-".join(filter(None, (kind, file_name(text)))) or "part"
            n = 1
            while own in self.taken:
                n += 1
                own = f"{base}-{n}"
            self.taken.add(own)
            self.of[kind, text] = own
        return self.of[kind, text]


def html_table(head, lines, kind="", texts=0, ends=0):
    """A table without the columns that are empty; of the others the first so many, and the last,
    are text, the others numbers."""
    full = [i for i in range(len(head)) if i == 0 or any(cells[i] for cells in lines)]
    texts = sum(i < texts for i in full)
    ends = sum(i >= len(head) - ends for i in full)
    frame = "scroll" if kind.startswith("data") else "wide"
    out = [f'<div class="{frame}"><table class="{kind} t{texts} e{ends}"><thead><tr>']
    out += [f'<th scope="col">{head[i]}</th>' for i in full]
    out.append("</tr></thead><tbody>")
    # HTML lets the ends of cells and rows be left out: a seventh of the page
    out += ["<tr>" + "".join(f"<td>{c[i]}" for i in full) for c in lines]
    out.append("</tbody></table></div>")
    return "".join(out)


def fact(written, v):
    """A fact of a device; what should be a number and is none stays as it is."""
    number_of = isinstance(v, (int, float)) and math.isfinite(v)
    return escape(written(v) if number_of else v)


def facts(contexts, rows):
    """A column for each device, of its latest context; where there is none, of its rows."""
    devices, full = {}, set()
    for r in rows:
        known = devices.setdefault((r["device"], r["backend"]), {"backend": r["backend"]})
        for column in NO_JSON[1:]:
            if r.get(column):
                known[column] = value(r[column])
    for c in sorted(contexts, key=lambda c: str(c.get("date"))):
        device = c["device"]
        known = devices.get((str(device.get("name")), str(device.get("backend"))))
        if known is not None:
            known.update((k, v) for k, v in device.items() if v is not None and k != "name")
            full.add((device["name"], device["backend"]))
    lines = []
    order = [k for c in contexts for k in c["device"]]
    for key in sorted({k for d in devices.values() for k in d}, key=[*order, *NO_JSON].index):
        name, _, end = key.rpartition("_") if key.split("_")[-1] in FACT_UNITS else (key, "", "")
        unit, written = FACT_UNITS.get(end, ("", str))
        label = FACTS.get(key) or FACTS.get(name, name.replace("_", " "))
        known_s = [d[key] for d in devices.values() if isinstance(d.get(key), (int, float))]
        if end == "s" and known_s and max(known_s) < 1e-8:
            unit, written = ", ns", "{:.3g}".format
            devices = {at: {**d, key: 1e9 * d[key]} if key in d else d for at, d in devices.items()}
        cells = (fact(written, d[key]) if key in d else "" for d in devices.values())
        lines.append((escape(label + unit), *cells))
    names = (escape(f"{device} ({backend})") for device, backend in devices)
    out = html_table(["", *names], lines, "facts", 9)
    bare = [device for device, backend in devices if (device, backend) not in full]
    if bare:
        out += f"<p class=note>Of {escape(', '.join(bare))} there is no JSON file, which would say "
        out += "more: <code>--json</code>.</p>"
    return out


def reached(rows):
    """The page of `make passport`, a column for each device, or for each input that is overlaid."""
    devices = passport.by_device(rows, "@source" if "@source" in rows[0] else "device")
    lines = []
    for section, figures in passport.PAGE.items():
        found = []
        for f in figures:
            cells = []
            for benches in devices.values():
                x, share = passport.value(f, benches)
                of = "link" if f.share == ("pct_link",) else "peak"
                said = "" if math.isnan(share) else f" <small>{share:.1f} % of {of}</small>"
                unit = words(f"1 {f.unit}")[2:]
                cells.append("" if math.isnan(x) else f"{passport.written(x)} {unit}{said}")
            if any(cells):
                found.append((escape(f.label), *cells))
        if found:
            lines.append((f"<b>{section}</b>", *[""] * len(devices)))
            lines += found
    if not lines:
        return ""
    head = ["", *map(escape, devices)]
    note = (
        "<p class=note>The largest rate or the least time of the rows that are ok; those served by "
        "a cache are left out of the rates of memory.</p>"
    )
    return html_table(head, lines, "facts", 9) + note


def notes(own):
    """The findings of some contexts."""
    said = list(dict.fromkeys(str(n) for c in own for n in c["notes"]))
    if not said:
        return ""
    items = [f"<li>{words(n)}</li>" for n in said]
    out = f"<ul class=findings>{''.join(items[:NOTES_MAX])}</ul>"
    if len(items) > NOTES_MAX:
        out += f"<details><summary>{len(items) - NOTES_MAX} more</summary><ul class=findings>"
        out += "".join(items[NOTES_MAX:]) + "</ul></details>"
    return out


def figure(f, picture, narrow, number_of, anchor):
    """Drawn for a wide screen and for a narrow one, of which css shows one; marks are in the same
    order, and have their values once."""
    keys = [
        f'<li><svg width="26" height="12">{key}</svg>{escape(label)}</li>'
        for key, label in picture.legend
    ]
    heading = f"<li><b>{escape(picture.heading)}</b></li>" if picture.heading else ""
    title = title_of(f.family, f.rows)
    return (
        f'<figure id="{anchor}"><h4>{escape(title)}</h4>'
        f"<ul class=legend>{heading}{''.join(keys)}</ul><p class=y>{escape(picture.upwards)}</p>"
        f'<div class=picture>{svg.embedded(picture, title)}'
        f"{svg.without_values(svg.embedded(narrow, title))}</div>"
        f"<figcaption>Figure {number_of}. {escape(f.caption)}</figcaption></figure>\n"
    )


def plain(v, digits=5):
    return "" if math.isnan(v) else f"{v:.{digits}g}" if abs(v) < 1e15 else f"{v:g}"


def flags_cell(flags, anchor):
    return " ".join(
        f'<a href="#{anchor("flag", f)}">{escape(f)}</a>' for f in flags.split(";") if f
    )


def rows_table(bench, rows, known, several, date, anchor):
    """All rows of a benchmark: what varies, the median with its interval, rates, values, verdict,
    flags. What is the same in all of them is said above."""
    columns = [c for c in ("@source",) if c in rows[0]]
    columns += ["device"] if several and len({r["device"] for r in rows}) > 1 else []
    columns += ["kernel"]
    axes = list(dict.fromkeys(a for r in rows for a in r if a in set(r["@axes"])))
    own = dict.fromkeys(v for r in rows for v in r.get("values", "").split(";") if v)
    axes = [a for a in axes if a not in own]
    same = [a for a in axes if len({r.get(a, "") for r in rows}) == 1]
    columns += sorted((a for a in axes if a not in same), key=lambda a: all_numbers(a, rows))
    texts = sum(not all_numbers(c, rows) for c in columns)
    medians = [v for v in (number(r, "median_s") for r in rows) if v > 0]
    middle = statistics.median(medians) if medians else 1
    unit, name = next((u for u in UNITS if middle >= u[0]), UNITS[-1])
    rates = [
        (c, label, None)
        for c, label in (
            ("gbps", "GB/s"), ("pct_peak", "% of peak"), ("pct_link", "% of link"),
            ("gflops", "GFLOP/s"), ("elements_per_s", "elements/s"), ("expected_pct", "expected %"),
        )
        if any(r.get(c) for r in rows)
    ]  # fmt: skip
    rates += [(c, escape(c), None) for c in own]
    compared = any(r.get("verdict") for r in rows)
    odd = any(r["status"] != "ok" for r in rows)
    head = [escape(axis_label(c, bench)) for c in columns]
    head += [f"median, {name}", "from", "to", *(label for _, label, _ in rates)]
    head += ["ratio", "from", "to", "verdict"] * compared + ["status"] * odd + ["flags"]
    lines = []
    for r in rows:
        cells = [escape(r.get(c, "")) for c in columns]
        cells += [plain(number(r, c) / unit) for c in ("median_s", "ci_lo_s", "ci_hi_s")]
        for c, _, _ in rates:
            v = value(r.get(c) or "")
            exact = isinstance(v, float) and abs(v) < 1e15 and v == int(v)
            cells.append(f"{v:.0f}" if exact else escape(v) if isinstance(v, str) else plain(v))
        if compared:
            cells += [plain(number(r, c)) for c in ("ratio", "ratio_lo", "ratio_hi")]
            base = f" than {r['compared_with']}" if r["verdict"] in ("faster", "slower") else ""
            base = f" as {r['compared_with']}" if r["verdict"] == "same" else base
            cells.append(escape(r["verdict"] + base))
        if odd:
            cells.append(words(" ".join(filter(None, (r["status"], r["reason"])))))
        cells.append(flags_cell(r["flags"], anchor))
        lines.append(cells)
    flags = Counter(f for r in rows for f in r["flags"].split(";") if f)
    said = [
        f"<dt>{flags_cell(f, anchor)} <small>{n}</small></dt><dd>"
        f"{words(known[f][0] if f in known else '')}</dd>"
        for f, n in flags.most_common()
    ]
    alike = ", ".join(
        f"{axis_label(a, bench)} {value_label(a, value(rows[0].get(a, '')), bench)}" for a in same
    )
    files = sorted({r["@file"].name for r in rows})
    is_open = " open" if len(rows) <= OPEN_MAX else ""
    return (
        f'<details class=rows{is_open} id="{anchor("rows", bench)}">'
        f"<summary>{escape(bench)}: {len(rows)} rows</summary>"
        f"<p class=note>{escape(', '.join(files))}"
        f"{escape('; all: ' + alike) if alike else ''}; {escape(measured(rows, date))}; "
        "from, to: ends of the 95 % interval</p>"
        + html_table(head, lines, "data", texts, 1 + odd + compared)
        + (f"<dl class=flags>{''.join(said)}</dl>" if said else "")
        + "</details>\n"
    )


def measured(rows, date):
    """When, as far as rows say it; of the others, of when their files are."""
    own, old = ([r for r in rows if r["@dated"] == dated] for dated in (True, False))
    parts = [f"measured {table.days(own)}"] if own else []
    return ", ".join(parts + ([f"files of {table.days(old, date)}"] if old else []))


def all_numbers(column, rows):
    return all(isinstance(value(r.get(column, "")), float) for r in rows)


def verdicts(rows, anchor):
    """What comparisons within runs have found, counted."""
    found = {}
    for r in rows:
        if r.get("verdict"):
            found.setdefault((r["bench"], r["compared_with"]), Counter())[r["verdict"]] += 1
    words = ("faster", "same", "undecided", "slower")
    lines = []
    for (b, base), n in found.items():
        link = f'<a href="#{anchor("rows", b)}">{escape(b)}</a>'
        lines.append((link, escape(base), *(n[w] or "" for w in words)))
    if not lines:
        return ""
    return (
        "<h3>Within runs</h3><p class=note>Kernels that took turns, each against the first: what "
        "gpumb found, by the interval of the ratio. How much is in the rows.</p>"
        + html_table(["benchmark", "compared with", *words], lines, "facts", 2)
    )


def beside(rows):
    """The same configurations in two inputs: medians and intervals of both. No verdict: that is
    gpumb's to find."""
    groups = {}
    for r in rows:
        key = r["bench"], r["kernel"], *((a, r[a]) for a in r["@axes"])
        groups.setdefault(key, {})[r["@source"]] = r
    sources = list(dict.fromkeys(r["@source"] for r in rows))
    lines = []
    for (bench, kernel, *axes), own in groups.items():
        if len(own) < 2 or any(r["status"] != "ok" for r in own.values()):
            continue
        cells = [escape(bench), escape(kernel), escape(" ".join(f"{a}={v}" for a, v in axes))]
        for s in sources:
            three = [number(own[s], c) for c in ("median_s", "ci_lo_s", "ci_hi_s")]
            cells += [plain(1e6 * v) for v in three] if s in own else [""] * 3
        first, last = (number(own[s], "median_s") if s in own else math.nan for s in sources[:2])
        cells.append(plain(last / first, 4) if len(sources) == 2 and first > 0 else "")
        lines.append(cells)
    if not lines:
        return ""
    head = ["benchmark", "kernel", "axes"]
    for s in sources:
        head += [f"{escape(s)}, \u00b5s", "from", "to"]
    is_open = " open" if len(lines) <= OPEN_MAX else ""
    return (
        f"<h3>{escape(' and '.join(sources))}</h3><p class=note>Medians of the same configurations "
        "with their 95 % intervals, and their ratio. Whether they differ is for gpumb to say, "
        "which also knows how processes differ: <code>PROGRAM --replay after.csv --compare "
        f"before.csv</code>.</p><details class=rows{is_open} id=beside>"
        f"<summary>{len(lines)} configurations</summary>"
        f'{html_table([*head, "ratio"], lines, "data", 3)}</details>'
    )


def programs_here():
    """The text of each program of this tree, by its name."""
    files = [f for d in ("bench", "examples") for f in (ROOT / d).iterdir()]
    return {f.stem: f.read_text() for f in files if f.suffix in (".cu", ".c", ".cpp")}


def program_of(said, bench, sources):
    """The program that has a benchmark now. Some were split: their older rows say the name of the
    family, which is another program's now, or none's; some were measured under another name."""
    now = [name for name, text in sources.items() if f'"{bench}"' in text]
    renamed = said == bench.split("/")[0] or said not in sources
    return now[0] if renamed and len(now) == 1 else said


def command(program, backend, settings, sources):
    """How to run it again, by the list of options. In CSV files the commas of its arguments are
    blanks."""
    listed = table.listed("GPUMBI_OPTION_LIST")
    examples = {name: example for _, name, example, *_ in listed}
    of_numbers = {  # by the setting, of which --samples has two
        member: (name, 100 if kind == "PERCENT" else 1)
        for _, name, example, kind, member, _ in listed
        if re.fullmatch("[0-9.]+", example)
    }
    words = []
    for key, v in settings.items():
        if key == "arguments":
            said = re.sub(r"(?<=[=\d]) (?=[\w.])(?!-)", ",", str(v))
            words += map(shlex.quote, said.split())
        elif key in of_numbers and isinstance(value(str(v)), float):
            name, factor = of_numbers[key]
            words.append(f"--{name} {float(v) * factor:g}")
        elif {"yes": key, "drawn": "shuffle"}.get(str(v), str(v)) in examples:
            words.append("--" + {"yes": key, "drawn": "shuffle"}.get(str(v), str(v)))
    if {"min_samples", "max_samples"} & settings.keys():
        least, most = examples["samples"].split(":")  # as by default
        least, most = settings.get("min_samples", least), settings.get("max_samples", most)
        words.append(f"--samples {shlex.quote(f'{least}:{most}')}")
    path, make = shlex.quote(f"./{program}"), ""
    if program in sources and backend in ("cuda", "hip", "cpu"):
        path = f"build/{backend}/{program}"
        make = f"make BACKEND={backend} {path} && "
    files = [shlex.quote(f"{program}.{end}") for end in ("csv", "json")]
    return " ".join([make + path, *words, f"--csv {files[0]} --json {files[1]}"])


def commands(contexts, rows, inputs, out, apart):
    """The programs with their settings, as far as the files say these."""
    found, sources = {}, programs_here()
    of = functools.cache(lambda said, bench: program_of(said, bench, sources))
    for r in rows:
        text = r.get("settings", "")
        settings = dict(s.split("=", 1) for s in text.split(";") if "=" in s)
        program = settings.pop("program", r["bench"].split("/")[0])
        key = program, r["backend"], of(program, r["bench"])
        known = found.setdefault(key, None)
        if text and known is None:
            found[key] = settings
    for c in contexts:
        said = c["program"], c["device"].get("backend")
        for key in (key for key in found if key[:2] == said):
            # all settings; in a CSV those that are not as by default
            own = {k: v for k, v in c["settings"].items() if v is not None}
            exact = {k: own[k] for k in ("arguments",) if k in own}
            found[key] = own if found[key] is None else {**found[key], **exact}
    lines = []
    for (_, backend, program), settings in found.items():
        unknown = "" if settings is not None else "    # its settings are not in the files"
        lines.append(command(program, backend, settings or {}, sources) + unknown)
    named = shlex.join(map(str, inputs)) + " --overlay" * apart
    lines.append(f"python3 plots/report.py {named} --out {shlex.quote(str(out))}")
    files = sorted({r["@file"].name for r in rows if r["@file"].suffix == ".csv"})
    return (
        "<p>To measure again, and to write this page:</p>"
        f"<pre>{escape(chr(10).join(lines))}</pre>"
        "<p>To see a program's table and conclusions from the stored rows, without a device: "
        f"<code>PROGRAM --replay {escape(files[0] if files else 'rows.json')}</code>.</p>"
    )


def drawn(rows, args, without):
    """All figures; several GPUs are beside each other, the CPU's backend is by itself."""
    own = {"date": args.date, "without": without}
    gpus = [r for r in rows if r["backend"] != "cpu"]
    devices = dict.fromkeys(r["device"] for r in gpus)
    if args.overlay:
        yield from table.figures(rows, together=True, **own)
    elif len(devices) > 1:
        sourced = [{**r, "@source": r["device"]} for r in gpus]
        yield from table.figures(sourced, together=True, **own)
        cpus = [r for r in rows if r["backend"] == "cpu"]
        yield from table.figures(cpus, **own)
    else:
        yield from table.figures(rows, **own)


def page(contexts, rows, known, args):
    devices = sorted({r["device"] for r in rows if r["backend"] != "cpu"}) or sorted(
        {r["device"] for r in rows}
    )
    title = args.title or f"{', '.join(devices)}: measured with gpumb"
    figures, without = {}, []
    for f in drawn(rows, args, without):
        figures.setdefault(f.family.bench, []).append(f)
    benches = dict.fromkeys(r["bench"] for r in rows)
    programs = {}
    for b in benches:
        programs.setdefault(b.split("/")[0], []).append(b)
    body, links, count_of, colors, anchor = [], [], 0, set(), Anchors()
    several = len({r["device"] for r in rows}) > 1

    def section(name, kind, text):
        if text:
            own = anchor(kind, name)
            links.append(f'<a href="#{own}">{escape(name)}</a>')
            body.append(
                f'<details open class=part><summary><h2 id="{own}">{escape(name)}</h2></summary>'
                f"{text}</details>\n"
            )

    section("Devices", "", facts(contexts, rows))
    section("What they reach" if len(devices) > 1 else "What it reaches", "", reached(rows))
    compared = verdicts(rows, anchor) + (beside(rows) if args.overlay else "")
    for f in args.compared:
        quoted = words(f.read_text("utf-8", "replace"))
        compared += f"<h3>{escape(f.name)}</h3><pre>{quoted}</pre>"
    section("Comparisons", "", compared)
    for program, own in programs.items():
        text = [notes([c for c in contexts if c["program"] == program])]
        for bench in own:
            text.append(f'<h3 id="{anchor("bench", bench)}">{escape(bench)}</h3>')
            for f in figures.get(bench, []):
                count_of += 1
                two = [svg.picture(f.family, f.panels, f.style, w) for w in (svg.WIDE, svg.NARROW)]
                colors |= two[0].colors
                text.append(figure(f, *two, count_of, anchor("", f.name)))
            text += [f"<p class=note>No figure: {why}.</p>" for b, why in without if b == bench]
            text.append(rows_table(bench, [r for r in rows if r["bench"] == bench], known, several,
                                   args.date, anchor))
        section(program, "program", "".join(text))
    counted = Counter(f for r in rows for f in r["flags"].split(";") if f)
    said = "".join(
        f'<dt id="{anchor("flag", f)}">{escape(f)}</dt>'
        f"<dd>{words(known[f][0] if f in known else '')} <small>({n} rows)</small><br>"
        f"{words(known[f][1] if f in known else '')}</dd>"
        for f, n in counted.most_common()
    )
    section("Flags", "", said and f"<dl class=all>{said}</dl>")
    section("Reproduce", "", commands(contexts, rows, args.inputs, args.out, args.overlay))
    status = Counter(r["status"] for r in rows)
    files, when = len({r["@file"] for r in rows}), measured(rows, args.date)
    about = (
        f"{len(rows)} rows of {len(benches)} benchmarks from {files} file{'s' * (files > 1)}: "
        f"{escape(', '.join(f'{n} {s}' for s, n in status.most_common()))}. "
        f"{escape(when[0].upper() + when[1:])}. Times are medians with 95 % "
        "intervals; GB/s counts bytes read + written, of a link those that cross it; "
        "1 GB = 10<sup>9</sup> bytes."
    )
    style, script = (
        Path(__file__).with_name(name).read_text("utf-8") for name in ("report.css", "report.js")
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n<title>{escape(title)}'
        '</title><meta name="viewport" content="width=device-width">\n'
        f'<link rel="icon" href="data:,"><style>{svg.STYLE}{svg.dark(colors)}{style}</style></head>'
        '<body id="top">\n'
        f"<header><h1>{escape(title)}</h1><p>{about}</p><nav>{''.join(links)}</nav></header>\n"
        f"<main>{''.join(body)}</main>\n<a class=top href=\"#top\">\u2191 Top</a>\n"
        f"<script>{script}</script></body></html>\n"
    )


def main():
    parser = argparse.ArgumentParser(
        description="Writes one HTML file from the CSV and JSON files of programs that use gpumb."
    )
    parser.add_argument("inputs", nargs="+", help="folders with CSV and JSON files, or files")
    parser.add_argument("--out", default="results/report.html", type=Path, help="the HTML file")
    parser.add_argument("--title", help="instead of the devices' names")
    parser.add_argument("--date", help="of rows that do not say it, instead of the files' own")
    parser.add_argument(
        "--overlay", action="store_true",
        help="each input beside the others: devices, or before and after",
    )  # fmt: skip
    parser.add_argument(
        "--compared", action="append", default=[], type=Path, metavar="FILE",
        help="text that a program has printed with --compare, quoted",
    )  # fmt: skip
    parser.add_argument(
        "--header", default=table.HEADER, type=Path,
        help="gpumb.h, which has columns, options and flags",
    )  # fmt: skip
    args = parser.parse_args()
    known, table.HEADER = flags_of(args.header), args.header
    contexts, rows = table.load(args.inputs, apart=args.overlay, quiet=True)
    text = page(contexts, rows, known, args)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(text, encoding="utf-8")
    size_mb = args.out.stat().st_size / 1e6
    say(f"{args.out}: {len(rows)} rows, {text.count('<figure')} figures, {size_mb:.1f} MB")


if __name__ == "__main__":
    try:
        main()
    except (Problem, OSError) as problem:
        say(problem)
        sys.exit(2)
