"""What plots/report.py writes, from the rows of bench/results and from made ones. test_report.sh
runs it."""

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from plots_check import (
    HOSTILE,
    RESULTS,
    ROOT,
    check,
    counts,
    finish,
    rows_of,
    run_program,
    write,
)

import families
import report
import rows as table

VOID = {"meta", "link", "br", "input"}
LINKS = {"href", "src", "action", "data", "xlink:href", "srcset", "poster"}


def run(*arguments):
    return run_program(report, arguments)


class Page(HTMLParser):
    """Balance of the tags, ids, references, tables by the id of what they are in, text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.outside = [], [], Counter(), set(), []
        self.tables, self.rows, self.cell, self.owner, self.words = {}, None, None, "", []
        self.id_of, self.elements, self.parts, self.all_tables = {}, Counter(), [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def updatepos(self, _, j):  # to where: nobody asks for the line
        return j

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.elements[tag] += 1
        for name in own:
            self.elements["@" + name] += 1
        if tag == "summary":
            self.parts.append(self.open[-1])
        if tag in ("td", "tr"):
            self.end_cell("td" if tag == "td" else "tr")
        if tag not in VOID:
            self.open.append(tag)
        if "id" in own:
            self.ids[own["id"]] += 1
            self.id_of[own["id"]] = tag
        if tag == "details":
            self.owner = own.get("id", "")
        for name in LINKS & own.keys():
            link = own[name]
            if link.startswith("#"):
                self.links.add(link[1:])
            elif link != "data:,":
                self.outside.append(link)
        if tag == "tbody":
            self.rows = self.tables.setdefault(self.owner, [])
            self.all_tables.append(self.rows)
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag == "td" and self.rows is not None:
            self.rows[-1].append("")

    def end_cell(self, last):
        """Ends of cells and rows may be left out."""
        for tag in ("td", "tr"):
            if self.open[-1:] == [tag] and (tag == "td" or last == "tr"):
                self.open.pop()

    def handle_endtag(self, tag):
        if tag == "tbody":
            self.end_cell("tr")
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)
        if tag == "tbody":
            self.rows = None
        if tag == "details":
            self.owner = ""

    def handle_data(self, text):
        self.words.append(text)
        if self.rows and self.open[-1] not in ("tr", "tbody"):
            self.rows[-1][-1] += text


def page_of(path):
    text = path.read_text("utf-8")
    page = Page(text)
    check(not page.wrong, f"{path.name}: tags that are not balanced: {page.wrong[:5]}")
    check(not page.outside, f"{path.name}: external references: {page.outside[:3]}")
    check(not re.search(r"url\(|@import|https?://", text), f"{path.name}: names a place outside")
    shown = "".join(page.words).split("// What report.py")[0]
    check("\u03bc" not in shown and not re.search(r"\d us\b", shown),
          f"{path.name}: other spellings of \u00b5s: {re.findall(r'.{20}[0-9] us', shown)[:3]}")
    cells = [c for rows in page.all_tables for line in rows for c in line]
    bad = [c for c in cells if re.search(r"\bnan\b", c)]
    check(not bad, f"{path.name}: cells that are no number: {len(bad)} {bad[:3]}")
    empty = sum(not any(line[i] for line in rows) for rows in page.all_tables if rows
                for i in range(1, len(rows[0])))
    check(not empty, f"{path.name}: {empty} empty columns")
    lost = page.links - set(page.ids) - {""}
    check(not lost, f"{path.name}: anchors that are not there: {sorted(lost)[:5]}")
    double = [i for i, n in page.ids.items() if n > 1]
    check(not double, f"{path.name}: ids given twice: {double[:5]}")
    return text, page


# ---- the stored rows, as they are ----------------------------------------------------------------


def stored(tmp):
    out = tmp / "report.html"
    code, error = run(RESULTS, "--out", out)
    check(code == 0 and error.count("\n") == 1, f"bench/results: {code} {error}")
    text, page = page_of(out)
    check(len(text.encode()) < 5e6, f"{len(text.encode())} bytes")
    benches = {}
    for f in sorted(RESULTS.glob("*.csv")):
        for r in rows_of(f):
            if "schema" in r:
                benches.setdefault(r["bench"], []).append(r)
    for bench, rows in benches.items():
        found = page.tables.get(f"rows-{families.file_name(bench)}", [])
        check(len(found) == len(rows), f"{bench}: {len(found)} rows, not {len(rows)}")
        shown = Counter(cell for line in found for cell in line)
        medians = [float(r["median_s"]) for r in rows if r["median_s"]]
        scales = (1, 1e-3, 1e-6, 1e-9)
        best = max(sum(f"{m / s:.5g}" in shown for m in medians) for s in scales)
        check(best == len(medians), f"{bench}: {best} of {len(medians)} medians")
        flags = Counter(f for r in rows for f in r["flags"].split(";") if f)
        said = Counter(f for line in found for f in line[-1].split() if flags)
        check(flags == said, f"{bench}: flags {said}, not {flags}")
    drawn = {i for i, tag in page.id_of.items() if tag == "figure"}
    for f in families.FAMILIES:
        if f.bench in benches:
            check(any(i.endswith(f"-{f.name}") for i in drawn), f"{f.name}: no figure")
    others = [b for b in benches if b not in {f.bench for f in families.FAMILIES}]
    without = [b for b in others
               if not any(i.endswith(f"-{families.file_name(b)}") for i in drawn)]
    check(sorted(without) == ["floor/equal", "floor/idle", "floor/result"], f"none: {without}")
    words = "".join(page.words)
    check(words.count("No figure: ") == len(without), "no figure, and no reason")
    twins = [len(re.findall(f'<svg class="{kind}"', text)) for kind in ("big", "small")]
    check(twins == [len(drawn)] * 2, f"wide and narrow figures: {twins}, not {len(drawn)}")
    sections = len(re.findall("<details open class=part><summary><h2 ", text))
    check(sections == len(re.findall("<h2", text)) > 20, f"{sections} sections that fold")
    check('<body id="top">' in text and '<a class=top href="#top">' in text, "no way back")
    names = [line[0] for rows in page.all_tables[:2] for line in rows]
    bare = [n for n in names if re.match("(from|and|which|its|in|of|for) ", n)]
    check(len(names) > 40 and not bare, f"names of rows that are not whole: {bare}")
    for c in json.loads((RESULTS / "h200-context.json").read_text()).values():
        for note in c.get("notes", []) if isinstance(c, dict) else []:
            note = re.sub(r"(?<=\d) us\b", " \u00b5s", note)
            check(note in words, f"a note is missing: {note}")
    check("build/cuda/offset --full" in words, "no command with the settings of offset")
    for bench in benches:  # each by the program that has it now, whatever it was when measured
        here = [f.stem for f in RESULTS.parent.glob("*.c*") if f'"{bench}"' in f.read_text()]
        again = [p for p in here if re.search(f"&& build/c[a-z]*/{p} ", words)]
        check(here == again, f"{bench}: {here}, not {again}, would measure it again")
    check("./" not in words[words.index("To measure again"):], "a program that is not here")
    return out


# ---- flags: the words of --explain ---------------------------------------------------------------


def flags():
    known = report.flags_of(ROOT / "gpumb.h")
    source = (ROOT / "gpumb.h").read_text()
    check(set(re.findall(r'^    X\([A-Z_]+, "([a-z-]+)"', source.split("#define GPUMB_FLAGS(X)")[1]
                         .split("#define GPUMBI_FLAG_BIT")[0], re.M)) <= set(known) and known,
          f"flags: {sorted(known)}")
    built = [ROOT / b / "copy" for b in (os.environ.get("TEST_BUILD", "build/cpu"), "build/cpu")]
    program = next((b for b in built if b.exists()), None)
    if not program:
        counts["skipped"] += 1
        print("report.py: skipped: flags against --explain all: no program is built")
        return
    said = subprocess.run([program, "--explain", "all"], capture_output=True, text=True).stdout
    ours = "\n".join(f"{f}: {meaning}.\n{advice}\n" for f, (meaning, advice) in known.items())
    check(said == ours, "the flags are not those of --explain all")


# ---- made rows -----------------------------------------------------------------------------------


def made(tmp):
    """JSON alone; two inputs beside each other; text that must not become markup; bad input."""
    base = rows_of(RESULTS / "h200-transfer.csv")
    fixed = [c for c in base[0] if c not in ("path", "size", "form")]
    context = json.loads((RESULTS / "h200.json").read_text())
    lines = [
        {**{c: r[c] or None for c in fixed}, "axes": {c: r[c] for c in ("path", "size")},
         "values": {}}
        for r in base
    ]  # fmt: skip
    nasty = '<b>&"\'</b>'
    lines[0]["kernel"] = lines[0]["axes"]["path"] = nasty
    own = {**context, "program": "transfer", "rows": lines, "notes": [f"a note {nasty}"]}
    (tmp / "transfer.json").write_text(json.dumps(own))
    (tmp / "other.json").write_text('{"benchmarks": []}')
    code, error = run(tmp, "--out", tmp / "json.html", "--title", nasty)
    check(code == 0, f"JSON alone: {code} {error}")
    text, page = page_of(tmp / "json.html")
    check(len(page.tables["rows-transfer-size"]) == len(base), "rows of the JSON")
    words = "".join(page.words)
    check(f"a note {nasty}" in words and "<b>&" not in text, "text became markup")
    check("132" in words and "PCIe" not in context, "the device's facts")
    own["settings"] = {
        "precision": 0.005, "max_samples": 99, "profile": "full", "order": "drawn", "raw": "yes",
        "strict": "no", "cache": "hot", "peak_gbps": None, "arguments": "--n=1,2",
    }  # fmt: skip
    own["rows"] = [{k: v for k, v in r.items() if k != "settings"} for r in lines]
    (tmp / "alone").mkdir()
    (tmp / "alone" / "transfer.json").write_text(json.dumps(own))
    run(tmp / "alone", "--out", tmp / "alone.html")
    said = "build/cuda/transfer --precision 0.5 --full --shuffle --raw --n=1,2 --samples 30:99 "
    check(said in "".join(page_of(tmp / "alone.html")[1].words), "settings that only the JSON says")

    before, after = tmp / "before.csv", tmp / "after.csv"
    write(before, base)
    half = [{**r, **{c: str(float(r[c]) / 2) for c in ("median_s", "ci_lo_s", "ci_hi_s") if r[c]}}
            for r in base]
    write(after, half)
    code, error = run(before, after, "--overlay", "--out", tmp / "two.html",
                      "--compared", RESULTS / "h200-compare.txt")
    check(code == 0, f"--overlay: {code} {error}")
    _, page = page_of(tmp / "two.html")
    ratios = [line[-1] for line in page.tables["beside"]]
    check(ratios == ["0.5"] * len(base), f"ratios before and after: {ratios[:5]}")
    words = "".join(page.words)
    reached = [f"{name} ({base[0]['backend']})" in words for name in ("before", "after")]
    check(all(reached), f"what is reached before and after is not apart: {reached}")
    check("spread between processes" in words, "--compared is not quoted")
    check("--replay after.csv --compare before.csv" in words, "no way to a verdict")

    (tmp / "none").mkdir()
    (tmp / "cut.csv").write_text(before.read_text()[:-40])
    (tmp / "bad.json").write_text("{")
    for arguments, said in (
        ([tmp / "none"], "nothing in it"),
        ([tmp / "nosuch"], "no such file"),
        ([tmp / "other.json"], "no rows"),
        ([tmp / "cut.csv"], "fields under"),
        ([tmp / "bad.json"], "cannot be read"),
        ([before, "--header", tmp / "bad.json"], "GPUMB_FLAGS"),
    ):
        code, error = run(*arguments, "--out", tmp / "bad.html")
        check(code == 2 and said in error and "\n" not in error.strip(), f"{arguments}: {error}")
    check(not (tmp / "bad.html").exists(), "written although the input is bad")


# ---- text that must not become markup ------------------------------------------------------------


def places(value, path=()):
    """The paths to all keys and to all that is no object in a JSON value."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield (*path, key), True
            yield from places(inside, (*path, key))
    elif isinstance(value, list):
        for i, inside in enumerate(value[:2]):
            yield from places(inside, (*path, i))
    if path:
        yield path, False


def changed(top, path, key):
    """A copy with the hostile text at this path, or as the name of what is there."""
    copy = json.loads(json.dumps(top))
    inside = copy
    for step in path[:-1]:
        inside = inside[step]
    if key:
        inside[HOSTILE] = inside.pop(path[-1])
    else:
        inside[path[-1]] = HOSTILE
    return copy


def page_is_clean(out, code, error, what, plain):
    """Of the elements and attributes of a page without such text; or one line of an error."""
    others = [line for line in error.rstrip("\n").split("\n")[1:] if line[:11] != "report.py: "]
    check(code in (0, 2) and not others and "\x1b" not in error, f"{what}: {code} {error}")
    if code == 0:
        text = out.read_text("utf-8")
        page = Page(text)
        extra = sorted(set(page.elements) - set(plain.elements))
        check(not extra and not page.wrong, f"{what}: {extra} {page.wrong[:3]}")
        check(page.elements["script"] == 1 and page.elements["title"] == text.count("<title>")
              and not page.outside, f"{what}: elements, links {page.outside[:3]}")
        check(not re.search("[\x00-\x08\x0b-\x1f]", text), f"{what}: control characters")
        check(not [i for i in page.ids if not re.fullmatch("[A-Za-z0-9_-]+", i)]
              and max(page.ids.values()) == 1, f"{what}: ids")
    return code


def hostile(tmp):
    """Each field of CSV and JSON, and each name of one, in turn."""
    report.programs_here = functools.cache(report.programs_here)  # they stay the same
    out, base = tmp / "page.html", []
    run(RESULTS, "--out", out)
    plain = Page(out.read_text("utf-8"))
    for name in ("transfer", "roofline", "mistakes", "offset"):
        base.append(rows_of(f"h200-{name}.csv")[:4])
    base[3][0].update(flags="noisy;unsettled", verdict="faster", compared_with="a kernel",
                      ratio="0.9", status="ok", time_utc="2026-03-01T07:05:00Z")
    for rows in base:
        path = tmp / "rows.csv"
        rows = [{**r, "time_utc": r.get("time_utc") or ""} for r in rows]
        write(path, rows)
        code, error = run(path, "--out", out)
        codes = Counter()
        check(code == 0, f"rows as they are: {error}")
        for column in rows[0]:
            for every in (False, True)[: 1 + (rows[0]["bench"] == "mistakes")]:
                own = [{**r, column: HOSTILE} if every or r is rows[0] else r for r in rows]
                write(path, own)
                code, error = run(path, "--out", out)
                codes[page_is_clean(out, code, error, f"{rows[0]['bench']}: {column}", plain)] += 1
            write(path, [{**r, HOSTILE: i % 2} for i, r in enumerate(rows)])
        code, error = run(path, "--out", out)
        page_is_clean(out, code, error, f"{rows[0]['bench']}: the name of a column", plain)
        check(codes[0] > 20 and codes[2] > 50, f"{rows[0]['bench']}: exit codes {codes}")

    # what each benchmark has of its own, for what its figures do with it
    benches = {}
    for f in sorted(RESULTS.glob("h200-*.csv")):
        for r in rows_of(f):
            if "schema" in r and r["status"] == "ok":
                benches.setdefault(r["bench"], []).append(r)
    tried = 0
    for bench, rows in benches.items():
        rows = rows[:: max(1, len(rows) // 5)]
        rows = [{c: r.get(c, "") for c in rows[0]} for r in rows]
        for column in (c for c in rows[0] if c not in table.fixed_columns() and rows[0][c]):
            for first in (True, False):
                some = rows[:1] if first else rows
                write(path, [{**r, column: HOSTILE} if r in some else r for r in rows])
                code, error = run(path, "--out", out)
                page_is_clean(out, code, error, f"{bench}: {column}", plain)
                tried += 1
    check(len(benches) > 60 and tried > 300, f"{tried} columns of {len(benches)} benchmarks")

    top = json.loads((RESULTS / "h200-mistakes.json").read_text())
    top["rows"] = top["rows"][:3]
    top["rows"][0]["axes"] = {"n": 4}
    top["rows"][0]["values"] = {"found": 3, "what": "text", "@file": 1}
    path = tmp / "mistakes.json"
    path.write_text(json.dumps(top))
    (tmp / "rows.csv").unlink()
    code, error = run(tmp / "mistakes.json", "--out", out)
    codes = Counter()
    check(code == 0, f"JSON as it is: {error}")
    for at, key in places(top):
        path.write_text(json.dumps(changed(top, at, key)))
        code, error = run(path, "--out", out)
        codes[page_is_clean(out, code, error, f"JSON {at} {'name' if key else ''}", plain)] += 1
    check(codes[0] > 100 and codes[2] > 30, f"JSON: exit codes {codes}")
    for option in ("--title", "--date"):
        path.write_text(json.dumps(top))
        code, error = run(path, "--out", out, option, HOSTILE)
        page_is_clean(out, code, error, option, plain)
    bad = tmp / "<img src=x onerror=alert(1)>.txt"
    bad.write_text(HOSTILE)
    code, error = run(path, "--out", out, "--compared", bad)
    page_is_clean(out, code, error, "--compared", plain)


def dates(tmp):
    """Rows that say when they were measured, and such that do not."""
    rows = rows_of("h200-host.csv")
    own = [{**r, "time_utc": f"2026-03-01T07:{i:02}:00Z"} for i, r in enumerate(rows)]
    write(tmp / "new.csv", own)
    run(tmp / "new.csv", "--out", tmp / "new.html")
    words = "".join(page_of(tmp / "new.html")[1].words)
    check(f"Measured 2026-03-01 07:00 to 07:{len(own) - 1:02} UTC." in words, words[:300])
    check("file of" not in words and "2026-03-01 07:" in words, "the file's date")
    write(tmp / "old.csv", rows)
    os.utime(tmp / "old.csv", (2e9, 2e9))
    run(tmp / "old.csv", "--out", tmp / "old.html")
    check("Files of 2033-05-18." in "".join(page_of(tmp / "old.html")[1].words), "an old file")
    code, _ = run(tmp / "old.csv", tmp / "new.csv", "--overlay", "--date", "2020-02-02",
                  "--out", tmp / "both.html")
    words = "".join(page_of(tmp / "both.html")[1].words)
    check(code == 0 and "files of 2020-02-02" in words and "Measured 2026-03-01" in words,
          words[:300])


# ---- in a browser --------------------------------------------------------------------------------

WATCH = """<script>
const wrong = [];
addEventListener('error', (e) => wrong.push(e.message));
for (const kind of ['error', 'warn']) console[kind] = (...words) => wrong.push(words.join(' '));
</script>"""
LOOK = """<script>
const at = (row, i) => row.cells[i].textContent;
let sorted = 0, shown = 0, figures = 0, keyed = 0;
for (const table of document.querySelectorAll('table.data')) {
  const rows = table.tBodies[0].rows, before = rows.length;
  const head = [...table.tHead.rows[0].cells];
  const i = head.findIndex((h) => /^median|µs$/.test(h.textContent));
  const in_order = (sign) => [...rows].every((r, n) => !n || !at(r, i) || !at(rows[n - 1], i) ||
    sign * (Number(at(rows[n - 1], i)) - Number(at(r, i))) <= 0);
  head[i].querySelector('button').click();
  const up = in_order(1) && head[i].ariaSort === 'ascending';
  head[i].querySelector('button').click();
  if (up && in_order(-1) && rows.length === before) sorted++;
  else wrong.push('not sorted: ' + table.textContent.slice(0, 60));
}
for (const find of document.querySelectorAll('input.find')) {
  const rows = [...find.parentNode.querySelectorAll('tbody tr')];
  find.value = 'no row has this';
  find.dispatchEvent(new Event('input'));
  const none = rows.every((r) => r.hidden);
  find.value = rows[0].cells[0].textContent;
  find.dispatchEvent(new Event('input'));
  if (none && !rows[0].hidden) shown++;
  else wrong.push('not filtered');
}
// To lay all rows out takes most of the time, on a narrow screen. The widest of each column stay.
for (const table of document.querySelectorAll('table.data')) {
  const rows = [...table.tBodies[0].rows], kept = new Set(rows.slice(0, 8));
  for (const i of [...rows[0].cells].keys())
    kept.add(rows.reduce((a, b) => at(b, i).length > at(a, i).length ? b : a));
  for (const row of rows) if (!kept.has(row)) row.remove();
}
const narrow_now = matchMedia('(max-width: 40rem)').matches;
for (const part of narrow_now ? document.querySelectorAll('details') : []) part.open = true;
name_cells();  // as their toggle events, which come later, do
for (const picture of document.querySelectorAll('.picture > svg')) {
  if ((getComputedStyle(picture).display === 'none') !== (picture.matches('.big') === narrow_now))
    wrong.push('the figure of another width is shown');
  if (getComputedStyle(picture).display === 'none') continue;
  const page = picture.getBoundingClientRect(), where = picture.closest('figure').id;
  const texts = [...picture.querySelectorAll('text:not([transform])')]
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  const small = page.width / picture.viewBox.baseVal.width;
  texts.forEach(([text, a], i) => {
    if (a.top < page.top - 1 || a.left < page.left - 1 || a.right > page.right + 1 ||
        a.bottom > page.bottom + 1)
      wrong.push(where + ': cut: ' + text);
    for (const [other, b] of texts.slice(i + 1))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3 * small)
        wrong.push(where + ': ' + text + ' lies upon ' + other);
  });
  if (small * parseFloat(getComputedStyle(picture).fontSize) < 11)
    wrong.push(where + ': too small to be read');
  if (picture.parentNode.scrollWidth > picture.parentNode.clientWidth)
    wrong.push(where + ': scrolls sideways');
  const mark = picture.querySelector('.k, .b, .q'), text = mark.textContent;
  const box = mark.getBoundingClientRect();
  picture.dispatchEvent(new PointerEvent('pointermove',
    {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2}));
  if (!tip.hidden && tip.textContent.length > 5) figures++;
  else wrong.push('no values on hover: ' + text);
  const says = (key) => {
    picture.dispatchEvent(new KeyboardEvent('keydown', {key}));
    return tip.hidden ? null : picture.querySelector('.here');
  };
  const marks = [...picture.querySelectorAll('[aria-label]')], curve = mark.parentNode;
  const other = marks.find((m) => m.parentNode !== curve) || mark, last = marks[marks.length - 1];
  const way = {Home: mark, ArrowDown: other, ArrowUp: mark, End: last, ArrowLeft: marks.at(-2),
    ArrowRight: last, Escape: null};
  const lost = Object.keys(way).filter((key) => key in way && says(key) !== way[key]);
  if (picture.tabIndex === 0 && !lost.length) keyed++;
  else wrong.push(where + ': no values by ' + lost);
}
if (document.documentElement.scrollWidth > innerWidth) wrong.push('wider than the window');
for (const box of narrow_now ? document.querySelectorAll('.scroll, .wide, pre, table') : [])
  if (box.scrollWidth > box.clientWidth + 1) {
    wrong.push('scrolls sideways: ' + box.textContent.slice(0, 60));
    break;
  }
const parts_all = [...document.querySelectorAll('details.part')];
const button = document.querySelector('nav button');
if (button.textContent !== 'Fold all') wrong.push('folding is not offered');
button.click();
if (!parts_all.every((p) => !p.open)) wrong.push('not folded');
const deep = document.querySelector('details.part h3[id]');
location.hash = deep.id;
deep.closest('details.part').open = false;  // whatever the browser does by itself
dispatchEvent(new HashChangeEvent('hashchange'));
if (!deep.closest('details.part').open || deep.getClientRects().length === 0)
  wrong.push('a link does not unfold');
location.hash = 'top';
button.click();  // one is open: all are folded, then all unfolded
button.click();
if (!parts_all.every((p) => p.open)) wrong.push('not unfolded');
const up = document.querySelector('a.top').getBoundingClientRect();
if (up.right > innerWidth || up.bottom > innerHeight || up.width < 20) wrong.push('no way back');
const light = (color) => color.match(/[0-9]+/g).slice(0, 3).reduce((sum, c) => sum + Number(c), 0);
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const ground = light(getComputedStyle(document.body).backgroundColor);
for (const text of document.querySelectorAll('p, h2, td, .picture text:not([style]):not(.v)')) {
  const own = getComputedStyle(text), ink = light(text.closest('svg') ? own.fill : own.color);
  if (dark ? ink - ground < 200 : ground - ink < 200) {
    wrong.push('not seen: ' + text.textContent);
    break;
  }
}
const found = {sorted, shown, figures, keyed, dark, wide: innerWidth, wrong: wrong.slice(0, 5)};
parent.postMessage(JSON.stringify(found), '*');
</script>"""
FRAME = """<iframe src="watched.html" width="{}" height="800"></iframe><script>
onmessage = (e) => document.body.textContent = 'verdict ' + e.data;
</script>"""


def browser(path, tmp, width, dark):
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if not program:
        counts["skipped"] += 1
        print("report.py: skipped: how the page runs: no chromium")
        return
    text = path.read_text("utf-8")
    tables, finds = text.count('<table class="data'), len(re.findall("<tbody>", text))
    figures = text.count("<figure ")
    watched = text.replace("<style>", WATCH + "<style>", 1).replace("</body>", LOOK + "</body>")
    (tmp / "watched.html").write_text(watched, encoding="utf-8")
    (tmp / "frame.html").write_text(FRAME.format(width), encoding="utf-8")
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--window-size=1500,900", f"--blink-settings=preferredColorScheme={int(not dark)}"]
    command += [f"--user-data-dir={tmp / 'profile'}", "--enable-logging=stderr", "--dump-dom"]
    try:
        done = subprocess.run(
            [*command, (tmp / "frame.html").as_uri()], capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        check(False, "chromium: not done in 120 s")
        return
    found = re.search(r"verdict (\{.*\})", done.stdout)
    verdict = json.loads(found[1]) if found else {"wrong": [done.stdout[-300:], done.stderr[-300:]]}
    check(not verdict["wrong"], f"chromium: {verdict['wrong']}")
    check(verdict.get("sorted") == tables > 0, f"tables sorted: {verdict}, not {tables}")
    check(0 < verdict.get("shown", 0) <= finds, f"tables filtered: {verdict}")
    check(verdict.get("figures") == figures > 0, f"values on hover: {verdict}, not {figures}")
    check(verdict.get("keyed") == figures, f"values by keys: {verdict}, not {figures}")
    screen = verdict.get("wide"), verdict.get("dark")
    check(screen == (width, dark), f"the screen: {screen}, not {(width, dark)}")
    check("CONSOLE" not in done.stderr, f"console: {done.stderr[-300:]}")


with tempfile.TemporaryDirectory() as folder:
    here = Path(folder)
    for part in (made, dates, hostile):
        (here / part.__name__).mkdir()
        part(here / part.__name__)
    flags()
    page = stored(here)
    for width in (400, 900, 1400):
        for dark in (False, True) if os.environ.get("NIGHTLY") else (width == 900,):
            browser(page, here, width, dark)
finish()
