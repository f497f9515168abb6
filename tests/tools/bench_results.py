#!/usr/bin/env python3
"""Merging in bench/results: results of a run, of an interrupted run, of another machine. usage: bench_results.py BENCH"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import tables
import targets

HERE, THERE = "a GPU", "another GPU"


def comparison(when, values, missing=(), on=HERE, lower=True):
    return {"when": when, "on": on, "unit": "ms", "lower is better": lower, "values": values,
            "missing": {label: "no" for label in missing}}


def same(got, expected, what):
    if got != expected:
        sys.exit(f"{what}: {got!r}, not {expected!r}")


def row(results, name):
    lines = tables.device_lines(results)
    [found] = [line for line in lines if line.startswith(f"| {name}")]
    return found


old = {"comparisons": {"gas": comparison("2026-01-01 10:00", {"ours": [2.0, 1.0], "Warp": [10.0], "Numba": [20.0]})},
       "bench": {"nbody": {"when": "2026-01-02 09:00", "on": HERE, "places": [], "results": []}}}

# A run without Warp: Warp's figure is kept, with our figure of its run; the new run's figures are unchanged.
new = {"comparisons": {"gas": comparison("2026-01-02 10:00", {"ours": [0.5], "Numba": [4.0]}, ["Warp"])}}
merged = tables.merge(old, new)
entry = merged["comparisons"]["gas"]
same([tables.ratio(entry, label) for label in ("Numba", "Warp")], [8.0, 10.0], "ratios")
same(row(merged, "gas"), "| gas | ms | **0.5** | Numba 4 (8 x), Warp 10 (10 x in an earlier run) |", "the row")
same(merged["bench"], old["bench"], "a part that was not run")
same(old["comparisons"]["gas"]["values"]["ours"], [2.0, 1.0], "the older results themselves")

# A second run without Warp keeps the figure; a run with Warp replaces it.
again = tables.merge(merged, {"comparisons": {"gas": comparison("2026-01-03 10:00", {"ours": [0.25]}, ["Warp", "Numba"])}})
same([tables.ratio(again["comparisons"]["gas"], label) for label in ("Numba", "Warp")], [8.0, 10.0], "ratios after two")
again = tables.merge(again, {"comparisons": {"gas": comparison("2026-01-04 10:00", {"ours": [0.25], "Warp": [5.0]})}})
same(list(again["comparisons"]["gas"]["earlier"]), ["Numba"], "earlier figures")

# Ours failed, an older run, a part that failed: existing results are kept.
for fault in ({"comparisons": {"gas": comparison("2026-01-05 10:00", {"Warp": [3.0]}, ["ours"])}}, old,
              {"bench": {"nbody": {"when": "2026-01-05 10:00", "on": HERE, "failed": "ended after 3 s"}}}):
    after = tables.merge(again, fault)
    same(after["comparisons"]["gas"]["values"], again["comparisons"]["gas"]["values"], "values after a failure")
    same(after["bench"]["nbody"]["results"], [], "a part after a failure")

# More is better here: the greatest rate of the rounds counts.
rate = comparison("2026-01-01 10:00", {"ours": [8.0, 9.0], "Numba": [2.0, 3.0]}, lower=False)
same(tables.ratio(rate, "Numba"), 3.0, "the ratio of rates")

# Programs with one thread are compared with ours on one thread, and the table says so.
alone = {"comparisons": {"sum": comparison("2026-01-01 10:00", {"ours": [4.0], "ours, 1 thread": [2.5], "REBOUND, 1 thread": [0.5]},
                                           lower=False)}}
same(tables.ratio(alone["comparisons"]["sum"], "REBOUND, 1 thread"), 5.0, "the ratio on one thread")
same("**4**, on 1 thread 2.5 | REBOUND, 1 thread 0.5 (5 x) |" in row(alone, "sum"), True, "the row of one thread")

# Versions are those of the runs behind the figures.
alone["comparisons"]["sum"]["libraries"] = {"rebound": "5.2", "jax": "0.1"}
same(tables.versions_of({**alone, "libraries": {"rebound": "1.0"}}), "rebound 5.2", "versions")

# Another machine has a letter wherever its figures appear.
mixed = tables.merge(merged, {"comparisons": {"bed": comparison("2026-01-02 11:00", {"ours": [7.0]}, on=THERE)},
                              "scaling": {"nbody": {"when": "2026-01-02 10:00", "on": HERE, "failed": "no"}}})
same(row(mixed, "bed"), "| bed [b] | ms | **7** | - |", "a row of another machine")

# The file is complete or unchanged; the tables are written between their marks and nowhere else.
with tempfile.TemporaryDirectory() as folder:
    tables.write(os.path.join(folder, "gpu.json"), merged)
    try:
        tables.write(os.path.join(folder, "gpu.json"), {"comparisons": {"gas": {1, 2}}})
    except TypeError:
        pass
    same(tables.read(os.path.join(folder, "gpu.json")), merged, "the file after a failure")
    page = os.path.join(folder, "page.md")
    with open(page, "w") as file:
        file.write("before\n<!-- bench/run.py gpu -->\nold\n<!-- end of gpu -->\nafter\n<!-- bench/run.py targets, gpu -->\n"
                   "<!-- end of targets, gpu -->\nend\n")
    for _ in range(2):
        tables.write_tables(page, folder, targets.target_lines)
    with open(page) as file:
        text = file.read()
    for words in ("before\n<!--", "-->\nafter\n<!--", "| gas | ms | **0.5** |", "-->\nend\n"):
        same(text.count(words), 1, words)
    same("old" in text, False, "the older table")

# The results that are kept here can be read, and every target names a comparison of run.py.
listed = subprocess.run([sys.executable, "-B", os.path.join(sys.argv[1], "run.py"), "--list"], check=True, capture_output=True,
                        text=True).stdout.splitlines()
for device in "cpu", "gpu":
    results = tables.read(os.path.join(sys.argv[1], "results", device + ".json"))
    json.dumps(tables.device_lines(results) + list(targets.target_lines(device, results)))
    for name, *_ in targets.COMPARED[device]:
        same(f"{device}: {name}" in listed, True, name)
    for entry in tables.figures(results):
        same((len(entry["when"]), bool(entry["on"])), (16, True), "when and where")
