#!/usr/bin/env python3
"""Our programs beside what else a user would run, in turn, on one machine: what is installed, each checked before it is
timed. Writes bench/results/{cpu,gpu}.json, and with --write the tables between the markers of docs/performance.md.

usage: bench/run.py [--build DIR] [--device cpu|gpu] [--only WORDS] [--rounds R] [--write] [--tables]

  --build DIR   where the programs lie (default build/release)
  --device D    one of them alone (default: the CPU, and the GPU if there is one)
  --only WORDS  comparisons whose name has a match of this expression; all else stays as it is in the results
  --write       the tables too; --tables: only them, from the results that are there
"""
import argparse
import functools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NUMBER = r"([0-9.]+(?:e[-+]?[0-9]+)?)"

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
parser.add_argument("--device", choices=["cpu", "gpu"])
parser.add_argument("--only", default="")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--write", action="store_true")
parser.add_argument("--tables", action="store_true")
arguments = parser.parse_args()
arguments.build = os.path.abspath(arguments.build)

THREADS = str(len(os.sched_getaffinity(0)))


def ours(name, *more):
    return [os.path.join(arguments.build, "bench", name), *more]


def peer(name, *more):
    return [sys.executable, os.path.join(HERE, name), *more]


def json_rate(label):
    return {label: r'"rate": ' + NUMBER}


class Comparison:
    """Programs that are run in turn, each with {label: pattern of its figure, or with a factor}; 'ours' is one of the labels."""

    def __init__(self, device, name, unit, programs, lower=False):
        self.device, self.name, self.unit, self.programs, self.lower = device, name, unit, programs, lower


def nbody_gpu(n, precision, peers):
    own = ours("bench_nbody_cuda", "--n", str(n), "--precision", precision)
    labels = {"ours": rf"(?m)^ *{n} +[\d.]+ ms +{NUMBER} e9/s +[\d.]+ %",
              "the sample's algorithm": rf"{NUMBER} e9/s +NVIDIA"}
    if precision == "double":
        del labels["the sample's algorithm"]
    return Comparison("gpu", f"direct sum, {precision}, {n} bodies", "10^9 interactions/s",
                      [(own, labels)] + [(peer("peers/nbody.py", library, "--n", str(n), "--precision", precision),
                                          json_rate(label)) for library, label in peers])


def comparisons(folder):
    field = os.path.join(folder, "field.bin")
    lmp = shutil.which("lmp")
    lammps = ["--lammps", (f"mpirun --allow-run-as-root -np {THREADS} " if shutil.which("mpirun") else "") + lmp] if lmp else []
    yield Comparison("cpu", "direct sum, 16384 bodies", "10^9 interactions/s", [
        (peer("nbody_numba.py", ours("bench_nbody")[0], "--rounds", "1", "--threads", THREADS),
         {"ours": rf"single n=\d+: ours {NUMBER}", "Numba": rf"single n=\d+: ours [\d.]+, Numba {NUMBER}"}),
        (peer("peers/nbody.py", "openmm-cpu", "--n", "16384"), json_rate("OpenMM"))])
    yield Comparison("cpu", "direct sum, double, 16384 bodies", "10^9 interactions/s", [
        (peer("nbody_numba.py", ours("bench_nbody")[0], "--rounds", "1", "--threads", THREADS),
         {"ours": rf"double n=\d+: ours {NUMBER}", "Numba": rf"double n=\d+: ours [\d.]+, Numba {NUMBER}"}),
        (peer("peers/nbody.py", "rebound", "--n", "16384"), json_rate("REBOUND, 1 thread"))])
    yield Comparison("cpu", "gas of 10^5 grains", "10^6 grain steps/s", [
        (peer("collision_numba.py", ours("bench_collision")[0], "--n", "97336", "--rounds", "1", "--threads", THREADS, *lammps),
         {"ours": rf"threads: ours {NUMBER}", "Numba": rf"threads: ours [\d.]+, numba {NUMBER}",
          "LAMMPS gran/hooke, double": rf"threads: .*lammps {NUMBER}"})])
    yield Comparison("cpu", "cubic reaction, 128^3", "ms a step", [
        (peer("diffusion_scipy.py", ours("bench_diffusion")[0], "--n", "128", "--rounds", "1", "--threads", THREADS),
         {"ours": rf"ours {NUMBER} ms", "scipy.fft": rf"scipy.fft {NUMBER} ms"})], lower=True)
    yield Comparison("cpu", "Asian call, 252 dates", "10^9 path-steps/s", [
        (peer("option_peers.py", ours("bench_option")[0], "--rounds", "1", "--threads", THREADS),
         {"ours": rf"ours {NUMBER}", "Numba": rf"Numba {NUMBER}", "NumPy": rf"NumPy {NUMBER}"}),
        (peer("peers/option_quantlib.py"), json_rate("QuantLib, 1 thread"))])

    rows = [(ours("bench_rows"), "ours", {"add": rf"(?m)^add\s+{NUMBER}", "matmul": rf"(?m)^matmul\s+{NUMBER}",
                                          "fft": rf"(?m)^fft\s+{NUMBER}"}),
            (peer("peers/rows.py", "torch"), "PyTorch", {k: rf'"{k}": {NUMBER}' for k in ("add", "matmul", "fft")}),
            (peer("peers/rows.py", "numba"), "Numba", {k: rf'"{k}": {NUMBER}' for k in ("add", "matmul", "fft")})]
    for key, name in (("add", "sum of two vectors of 10^7 floats"), ("matmul", "product of two matrices, 1024^2, fp32"),
                      ("fft", "complex transform of 8192 points")):
        yield Comparison("gpu", name, "us", [(command, {label: patterns[key]}) for command, label, patterns in rows],
                         lower=True)
    for n, name in (1000000, "10^6"), (10000000, "10^7"):
        torch = [(peer("peers/collision_torch.py", str(n), "100"), {"PyTorch": rf": {NUMBER} ms a step"})]
        yield Comparison("gpu", f"gas of {name} spheres", "ms a step", [
            (ours("bench_collision_cuda", "--n", str(n)), {"ours": rf": {NUMBER} ms a step"}),
            (peer("collision_numba_cuda.py", str(n)), {"Numba": rf": {NUMBER} ms a step"}),
            (peer("peers/collision_warp.py", str(n)), {"Warp": rf": {NUMBER} ms a step"})]
            + (torch if n == 1000000 else []), lower=True)
    yield nbody_gpu(16384, "single", [("numba", "Numba"), ("torch", "PyTorch"), ("compiled", "PyTorch, compiled"),
                                      ("jax", "JAX"), ("cupy", "CuPy"),
                                      ("openmm-cuda", "OpenMM")])
    yield nbody_gpu(65536, "single", [("numba", "Numba"), ("compiled", "PyTorch, compiled"), ("openmm-cuda", "OpenMM")])
    yield nbody_gpu(65536, "double", [("numba", "Numba"), ("openmm-cuda", "OpenMM")])
    for n in (256, 512):
        yield Comparison("gpu", f"cubic reaction, {n}^3", "ms a step", [
            (ours("bench_diffusion_cuda", "--n", str(n), "--steps", "3", "--file", field),
             {"ours": rf"two passes +{NUMBER} ms", "cuFFT, separate kernels": rf"(?m)^ *cuFFT +{NUMBER} ms"}),
            (peer("diffusion_cupy.py", str(n), field), {"CuPy": rf": {NUMBER} ms a step"}),
            *((peer("peers/diffusion.py", library, str(n), field), {label: rf": {NUMBER} ms a step"})
              for library, label in (("torch", "PyTorch"), ("compiled", "PyTorch, compiled"), ("jax", "JAX")))], lower=True)
    yield Comparison("gpu", "Gray-Scott, 4096^2, etdrk4", "ms a step", [
        (ours("bench_diffusion_cuda", "--gray-scott", "4096", "--file", field),
         {"ours": rf"two passes a stage +{NUMBER} ms", "cuFFT, separate kernels": rf"(?m)^ *cuFFT +{NUMBER} ms"}),
        (peer("diffusion_jax.py", "4096", field), {"JAX": rf": {NUMBER} ms a step"})], lower=True)
    yield Comparison("gpu", "Gray-Scott, 256 members of 128^2, etdrk2", "ms a step of all", [
        (ours("bench_diffusion_cuda", "--n", "128", "--ensemble", "256"),
         {"ours": rf"in one batch {NUMBER} ms", "one after the other": rf"one after the other {NUMBER} ms"})], lower=True)
    by_libraries = [("torch", "PyTorch"), ("compiled", "PyTorch, compiled"), ("cupy", "CuPy")]
    yield Comparison("gpu", "Asian call, 252 dates", "10^9 path-steps/s", [
        (peer("option_gpu.py", ours("bench_option")[0], ours("bench_option_curand")[0], "--rounds", "1"),
         {"ours": rf"ours {NUMBER}", "cuRAND, one kernel": rf"cuRAND {NUMBER}", "Numba": rf"Numba {NUMBER}",
          "JAX": rf"JAX {NUMBER}"}),
        *((peer("peers/option.py", library, "asian"), json_rate(label)) for library, label in by_libraries)])
    yield Comparison("gpu", "European call", "10^9 paths/s", [
        (ours("bench_option", "--device", "cuda", "--work", "european", "--rate-only", "--seconds", "0.3"),
         {"ours": (rf"^{NUMBER}", 1e-9)}),
        *((peer("peers/option.py", library, "european"), json_rate(label)) for library, label in by_libraries)])


# ---- runs ----

@functools.cache
def run(command, round_number=0):
    """Text of a program, or None with the reason where it cannot run; once a round, whatever figures it gives."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as reason:
        return None, str(reason)
    if done.returncode == 0:
        return done.stdout, ""
    lines = (done.stdout + done.stderr).strip().splitlines() or ["no message"]
    return None, lines[0] if done.returncode == 77 else lines[-1]


def measure(comparison):
    values, missing = {}, {}
    for number in range(arguments.rounds):
        for command, labels in comparison.programs:
            if all(label in missing for label in labels):
                continue
            text, reason = run(tuple(command), number)
            for label, pattern in labels.items():
                pattern, factor = pattern if isinstance(pattern, tuple) else (pattern, 1)
                found = re.search(pattern, text) if text else None
                if found:
                    values.setdefault(label, []).append(factor * float(found.group(1)))
                elif label not in values:
                    missing[label] = reason or "not run"
    result = {"unit": comparison.unit, "lower is better": comparison.lower, "values": values, "missing": missing}
    best = min if comparison.lower else max
    for label, numbers in values.items():
        print(f"{comparison.name}: {label}: {best(numbers):.4g} {comparison.unit} (best of {len(numbers)})", flush=True)
    for label, reason in missing.items():
        print(f"{comparison.name}: {label}: {reason}", flush=True)
    return result


def outputs_cost(sim):
    """Seconds of a run with snapshots, tables and checkpoints every 1 % of it, one kind at a time, and without any."""
    text = """local what, n = sim.param("what", "none"), sim.param("n", 8192)
    local function every(kind, least) return what == kind and "every 10 steps" or least end
    return sim.nbody { bodies = { sim.plummer { n = n, mass = 1, radius = 1 } }, gravity = { softening = 0.05 },
      precision = "single", integrate = { dt = 1/1024, t_end = 1000/1024 },
      output = { snapshots = every("snapshots", "never"), tables = every("tables", "never"),
                 checkpoint = every("checkpoint", "never") } }"""
    with tempfile.TemporaryDirectory() as folder:
        scenario = os.path.join(folder, "cost.lua")
        with open(scenario, "w") as file:
            file.write(text)

        def seconds(what):
            folder_of = os.path.join(folder, what)
            command = [sim, "run", scenario, "--set", f"what={what}", "--device", "cpu", "-q", "-o", folder_of]
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            took = time.perf_counter() - begin
            shutil.rmtree(folder_of)
            return took

        kinds = ["none", "snapshots", "tables", "checkpoint"]
        times = {kind: [] for kind in kinds}
        for _ in range(arguments.rounds):
            for kind in kinds:
                times[kind].append(seconds(kind))
        return {kind: statistics.median(t) for kind, t in times.items()}


def machine(sim):
    text, _ = run((sim, "info"))
    lines = [line for line in (text or "").splitlines() if line.split()[:1] in (["cpu"], ["cuda"], ["threads"], ["built"])]
    lines = [re.sub(r", GPU-[0-9a-f-]+", "", line) for line in lines]  # which one of its kind says nothing
    return {"host": platform.machine(), "info": lines, "when": time.strftime("%Y-%m-%d", time.gmtime())}


def write_results(path, results):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


def run_device(device, folder, path, sim):
    results = {}
    if os.path.exists(path):
        with open(path) as file:
            results = json.load(file)
    results["machine"] = machine(sim)
    table = results.setdefault("comparisons", {})
    for comparison in comparisons(folder):
        if comparison.device == device and re.search(arguments.only, comparison.name):
            table[comparison.name] = measure(comparison)
            write_results(path, results)
    if not arguments.only:
        where = "cpu" if device == "cpu" else "cuda"
        for key, more in (("bench", []), ("scaling", ["--scaling"])):
            text, reason = run((sim, "bench", "--json", "--device", where, *more))
            results[key] = json.loads(text) if text else {"missing": reason}
        if device == "cpu":
            text, reason = run(tuple(peer("startup.py", sim)))
            results["startup"] = json.loads(text) if text else {"missing": reason}
            results["outputs"] = outputs_cost(sim)
        write_results(path, results)


# ---- tables ----

def ratio_text(entry, label):
    best = min if entry["lower is better"] else max
    own, other = best(entry["values"]["ours"]), best(entry["values"][label])
    times = other / own if entry["lower is better"] else own / other
    return f"{label} {other:.3g} ({times:.3g} x)"


def comparison_lines(results):
    yield "| | unit | ours | others, and how many times faster ours is |"
    yield "|---|---|---|---|"
    for name, entry in results["comparisons"].items():
        if "ours" not in entry["values"]:
            continue
        best = min if entry["lower is better"] else max
        others = [ratio_text(entry, label) for label in entry["values"] if label != "ours"]
        yield f"| {name} | {entry['unit']} | **{best(entry['values']['ours']):.3g}** | {', '.join(others) or '-'} |"
    missing = sorted({label for entry in results["comparisons"].values() for label in entry["missing"] if label != "ours"})
    if missing:
        yield ""
        yield "Not installed, or without a figure, on that machine: " + ", ".join(missing) + "."


def bench_lines(results):
    bench = results.get("bench", {})
    if "results" not in bench:
        return
    yield ""
    yield "| `sim bench` | n | threads | a second | spread | a step | of the ceiling |"
    yield "|---|---|---|---|---|---|---|"
    for r in bench["results"]:
        share = f"{100 * r['share']:.0f} % ({r['counted']:g} {'B' if r['ceiling'] == 'copy' else r['ceiling']})" \
            if r.get("share") else ""
        spread = f"-{100 * (1 - r['min'] / r['median']):.0f} +{100 * (r['max'] / r['median'] - 1):.0f} %"
        yield (f"| {r['model']}: {r['kernel']} | {r['n']} {r['size']} | {r['threads'] if r['device'] == 'cpu' else 'GPU'} "
               f"| {r['median']:.3g} {r['unit'][:-2]} | {spread} | {1e3 * r['seconds_a_step']:.3g} ms | {share} |")


def scaling_lines(results):
    fits = results.get("scaling", {}).get("exponents", [])
    if fits:
        yield ""
        yield "Time of a step grows as N^p (`sim bench --scaling`), over all sizes and over the upper two decades: " + "; ".join(
            f"{f['model']} ({f['kernel']}) {f['all']:.2f}, {f['upper']:.2f}" for f in fits) + "."


def cost_lines(results):
    cost, start = results.get("outputs"), results.get("startup", {})
    if cost:
        yield ""
        yield "Outputs every 1 % of a run of 1000 steps (8192 bodies): " + ", ".join(
            f"{kind} {100 * (cost[kind] / cost['none'] - 1):+.1f} %" for kind in cost if kind != "none") + " of its time."
    if "version" in start:
        yield ""
        yield "Start: " + ", ".join(f"{name} {value['min']:.3g} ms" for name, value in start.items()) + " (the least of some)."


def write_tables():
    path = os.path.join(ROOT, "docs/performance.md")
    with open(path) as file:
        text = file.read()
    for device in "cpu", "gpu":
        source = os.path.join(HERE, "results", device + ".json")
        begin, end = f"<!-- bench/run.py {device} -->\n", f"<!-- end of {device} -->"
        if not os.path.exists(source) or begin not in text:
            continue
        with open(source) as file:
            results = json.load(file)
        about = "; ".join(" ".join(line.split()) for line in results["machine"]["info"])
        lines = [f"Measured on {results['machine']['when']}: {about}.", ""]
        for part in (comparison_lines, bench_lines, scaling_lines, cost_lines):
            lines += part(results)
        before, rest = text.split(begin, 1)
        text = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.split(end, 1)[1]
    with open(path, "w") as file:
        file.write(text)


def main():
    sim = os.path.join(arguments.build, "cli/sim")
    if not arguments.tables:
        if not os.path.exists(sim):
            sys.exit(f"no {sim}: build first (./dev build), or name the folder with --build")
        gpu = "compute capability" in (run((sim, "info"))[0] or "")
        devices = [arguments.device] if arguments.device else ["cpu", "gpu"] if gpu else ["cpu"]
        with tempfile.TemporaryDirectory() as folder:
            for device in devices:
                run_device(device, folder, os.path.join(HERE, "results", device + ".json"), sim)
    if arguments.write or arguments.tables:
        write_tables()


main()
