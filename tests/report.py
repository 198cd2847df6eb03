"""What plots/report.py writes, from the rows of bench/results and from made ones. test_report.sh
runs it."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from plots_check import RESULTS, ROOT, check, counts, finish, rows_of, run_program, write

import families
import report

VOID = {"meta", "link", "br", "input"}


def run(*arguments):
    return run_program(report, arguments)


class Page(HTMLParser):
    """Balance of the tags, ids, references, tables by the id of what they are in, text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.outside = [], [], Counter(), set(), []
        self.tables, self.rows, self.cell, self.owner, self.words = {}, None, None, "", []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in own:
            self.ids[own["id"]] += 1
        if tag == "details":
            self.owner = own.get("id", "")
        for name in ("href", "src", "action", "data", "xlink:href", "srcset", "poster"):
            link = own.get(name, "#")
            if link.startswith("#"):
                self.links.add(link[1:])
            elif link != "data:,":
                self.outside.append(link)
        if tag == "tbody":
            self.rows = self.tables.setdefault(self.owner, [])
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag == "td" and self.rows is not None:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
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
        said = Counter(f for line in found for f in line[-1].split())
        check(flags == said, f"{bench}: flags {said}, not {flags}")
    for f in families.FAMILIES:
        if f.bench in benches:
            drawn = any(i.endswith(f"-{f.name}") for i in page.ids)
            check(drawn, f"{f.name}: no figure")
    others = [b for b in benches if b not in {f.bench for f in families.FAMILIES}]
    for b in others:
        check(any(i.endswith(f"-{families.file_name(b)}") for i in page.ids), f"{b}: no figure")
    words = "".join(page.words)
    for c in json.loads((RESULTS / "h200-context.json").read_text()).values():
        for note in c.get("notes", []) if isinstance(c, dict) else []:
            check(note in words, f"a note is missing: {note}")
    check("build/cuda/offset --full" in words, "no command with the settings of offset")
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
for (const picture of document.querySelectorAll('.picture > svg')) {
  const page = picture.getBoundingClientRect(), where = picture.closest('figure').id;
  const texts = [...picture.querySelectorAll('text:not([transform])')]
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  const small = page.width / picture.viewBox.baseVal.width;
  texts.forEach(([text, a], i) => {
    if (a.left < page.left - 1 || a.right > page.right + 1 || a.bottom > page.bottom + 1)
      wrong.push(where + ': cut: ' + text);
    for (const [other, b] of texts.slice(i + 1))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3 * small)
        wrong.push(where + ': ' + text + ' lies upon ' + other);
  });
  if (small * parseFloat(getComputedStyle(picture).fontSize) < 9)
    wrong.push(where + ': too small to be read');
  const mark = picture.querySelector('title').parentNode, text = mark.textContent;
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
const light = (color) => color.match(/[0-9]+/g).slice(0, 3).reduce((sum, c) => sum + Number(c), 0);
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const ground = light(getComputedStyle(document.body).backgroundColor);
for (const text of document.querySelectorAll('p, h2, td, .picture text:not([style])')) {
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
    command += ["--window-size=1300,900", f"--blink-settings=preferredColorScheme={int(not dark)}"]
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
    (here / "made").mkdir()
    made(here / "made")
    flags()
    page = stored(here)
    browser(page, here, 1200, False)
    browser(page, here, 400, True)
finish()
