"""How the medians of rows of one kernel differ, if they are of so many seconds of samples, and how
many of the rows' intervals hold the median of all; from the JSON of tests/levels.cu with --raw, as
CSV."""
import json
import statistics
import sys

SECONDS = (0.03, 0.1, 0.2, 0.3)

print("run,kernel,timing,rows,median_us," + ",".join("sd_pct_%gs" % s for s in SECONDS) +
      ",largest_pct_0.1s,held_pct")
for run, name in enumerate(sys.argv[1:], 1):
    kernels = {}
    with open(name, encoding="utf-8") as file:
        for row in json.load(file)["rows"]:
            if row["status"] == "ok":
                axes = ["%s=%s" % pair for pair in row.get("axes", {}).items()
                        if pair[0] not in ("repeat", "rep", "way")]
                key = " ".join([row["kernel"]] + axes), row["timing"]
                kernels.setdefault(key, []).append(
                    (row["samples_s"], row["median_s"], row["ci_lo_s"], row["ci_hi_s"]))
    for (kernel, timing), of_rows in kernels.items():
        rows = [times for times, *_ in of_rows]
        truth = statistics.median(median for _, median, _, _ in of_rows)
        held = sum(lo <= truth <= hi for *_, lo, hi in of_rows) / len(of_rows)
        cells = []
        for seconds in SECONDS:
            medians = [statistics.median(times[:max(8, int(len(times) * seconds / SECONDS[-1]))])
                       for times in rows]
            middle = statistics.median(medians)
            cells.append("%.3f" % (100 * statistics.pstdev(medians) / middle))
            if seconds == 0.1:
                largest = "%.3f" % (100 * max(abs(m - middle) for m in medians) / middle)
        print(",".join([str(run), kernel, timing, str(len(rows)), "%.4g" % (1e6 * middle)] +
                       cells + [largest, "%.1f" % (100 * held)]))
