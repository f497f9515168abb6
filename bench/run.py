#!/usr/bin/env python3
"""Compares our programs with others that a user would run, in turn, on one machine. Each installed program is checked
before it is timed. Updates bench/results/{cpu,gpu}.json, part by part, and with --write the tables of
docs/performance.md.

usage: bench/run.py [--build DIR] [--device cpu|gpu] [--only WORDS...] [--rounds R] [--seconds S] [--results DIR] [--write]
       bench/run.py --merge DIR... [--write]      results of other runs join ours
       bench/run.py --tables                      only the tables, from the results that are there
       bench/run.py --list                        names of the parts

  --build DIR     where the programs lie (default build/release)
  --device D      one of them alone (default: the CPU, and the GPU if there is one)
  --only WORDS... parts whose name has a match of an expression, in the order of the expressions
  --seconds S     no part begins after so long, and what still runs then is ended; what was found until then is kept
  --limit L       of one program (default 600 s)

A part that fails, or is not run, keeps its older results. Each result says when, where and by which commands it was
measured. Ends with 1 where a part has no figure of ours.
"""
import argparse
import functools
import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tables
import targets

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NUMBER = r"([0-9.]+(?:e[-+]?[0-9]+)?)"
MODELS = "nbody", "collision", "diffusion", "option"
THREADS = str(len(os.sched_getaffinity(0)))

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
parser.add_argument("--device", choices=["cpu", "gpu"])
parser.add_argument("--only", nargs="+", default=[""])
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--seconds", type=float, default=float("inf"))
parser.add_argument("--limit", type=float, default=600)
parser.add_argument("--results", default=os.path.join(HERE, "results"))
parser.add_argument("--merge", nargs="+", default=[])
parser.add_argument("--write", action="store_true")
parser.add_argument("--tables", action="store_true")
parser.add_argument("--list", action="store_true")
arguments = parser.parse_args()
arguments.build = os.path.abspath(arguments.build)
SIM = os.path.join(arguments.build, "cli/sim")
for word in arguments.only:
    try:
        re.compile(word)
    except re.error as reason:
        parser.error(f"--only {word}: {reason}")
BEGIN = time.monotonic()


def left():
    return arguments.seconds - (time.monotonic() - BEGIN)


def ours(name, *more):
    return [os.path.join(arguments.build, "bench", name), *more]


def scenario(name, *more, device="cpu", verb="bench"):
    """Steps of bench/NAME.lua, or a run of it; words of `more` that begin with no - are parameters of it."""
    words = [part for word in more for part in ([word] if word.startswith("-") else ["--set", word])]
    threads = ["--threads", THREADS] if device == "cpu" else []
    return [SIM, verb, os.path.join(HERE, name + ".lua"), "--device", device, *threads, *words]


def peer(name, *more):
    return [sys.executable, os.path.join(HERE, name), *more]


def json_rate(label):
    return {label: r'"rate": ' + NUMBER}


# What `sim bench SCENARIO.lua` prints.
RATE, MS = rf": {NUMBER} \S.*?/s \(", rf", {NUMBER} ms a step, "


class Comparison:
    """Programs that are run in turn, each with {label: pattern of its figure, or with a factor}; 'ours' is one of the
    labels. Of several matches the best counts. same: {pattern of an answer that all print: how far from ours it may be},
    or so many times as far where that stands behind a program's labels."""

    def __init__(self, device, name, unit, programs, lower=False, same=None):
        self.device, self.name, self.unit, self.programs, self.lower = device, name, unit, programs, lower
        self.same = same or {}


# ---- what is compared ----

def nbody_gpu(n, precision, peers):
    labels = {"ours": rf"(?m)^ *{n} +[\d.]+ ms, a step +[\d.]+ ms +{NUMBER} e9/s"}
    if precision == "single":
        labels["the sample's algorithm"] = rf"{NUMBER} e9/s +NVIDIA"
    return Comparison("gpu", f"direct sum, {precision}, {n} bodies", "10^9 interactions/s",
                      [(ours("bench_nbody_cuda", "--n", str(n), "--precision", precision), labels)]
                      + [(peer("peers/nbody.py", library, "--n", str(n), "--precision", precision), json_rate(label))
                         for library, label in peers])


@functools.cache
def ranks():
    """mpirun for as many ranks as there are threads, or nothing; the option for root is Open MPI's own."""
    if not shutil.which("mpirun"):
        return ""
    text, _ = run(("mpirun", "--version"))
    root = "--allow-run-as-root " if "Open MPI" in (text or "") and os.geteuid() == 0 else ""
    return f"mpirun {root}-np {THREADS} "


# Ours is a separate program in every comparison: a peer that fails loses only its own figure.
def cpu_comparisons():
    for precision, word, library, label in (("single", "", "openmm-cpu", "OpenMM"),
                                            ("double", "double, ", "rebound", "REBOUND, 1 thread")):
        yield Comparison("cpu", f"direct sum, {word}16384 bodies", "10^9 interactions/s", [
            (scenario("bodies", "n=16384", f"--precision={precision}"), {"ours": (RATE, 1e-9)}),
            (peer("nbody_numba.py", SIM, "--rounds", "1", "--threads", THREADS),
             {"Numba": rf"{precision} n=\d+: ours [\d.]+, Numba {NUMBER}"}),
            *([(scenario("bodies", "n=16384", f"--precision={precision}", "--threads=1"), {"ours, 1 thread": (RATE, 1e-9)})]
              if label.endswith("1 thread") else []),
            (peer("peers/nbody.py", library, "--n", "16384"), json_rate(label))])
    lmp = shutil.which("lmp")
    for n, name in (97336, "10^5"), (1000000, "10^6"):
        yield Comparison("cpu", f"gas of {name} grains", "10^6 grain steps/s", [
            (scenario("gas", f"n={n}", "--warm=300", "--steps=100"), {"ours": (RATE, 1e-6)}),
            (peer("collision_numba.py", SIM, "--n", str(n), "--rounds", "1", "--threads", THREADS),
             {"Numba, cells": rf"threads: .*numba {NUMBER}", "Numba, lists": rf"threads: .*numba-lists {NUMBER}"}),
            *([(peer("peers/collision_lammps.py", str(n), ranks() + lmp),
                {"LAMMPS gran/hooke, double": rf"lammps {NUMBER}"})] if lmp else [])], same=same_gas(n))
    for n in "128", "256":
        yield Comparison("cpu", f"cubic reaction, {n}^3", "ms a step", [
            (scenario("cubic", f"n={n}"), {"ours": MS}),
            (peer("diffusion_scipy.py", SIM, "--n", n, "--rounds", "1", "--threads", THREADS),
             {"scipy.fft": rf"scipy.fft {NUMBER} ms"})], lower=True)
    yield Comparison("cpu", "Asian call, 252 dates", "10^9 path-steps/s", [
        (scenario("option", "work=asian"), {"ours": (RATE, 1e-9)}),
        (peer("option_peers.py", SIM, "--rounds", "1", "--threads", THREADS),
         {label: rf"\b{label} {NUMBER}" for label in ("Numba", "NumPy", "JAX", "QuantLib")})])


def same_gas(n):
    """Gases of n grains with other random velocities: a mean of 3n squares has a relative error of (2/3n)^1/2, a number of
    contacts of about (1/number)^1/2 (0.114 a grain); four times the error of a difference, and what is printed."""
    far = 4 * 2**0.5
    return {rf"temperature {NUMBER}": far * (2 / (3 * n)) ** 0.5 + 1e-4,
            rf"coordination {NUMBER}": far / (0.114 * n) ** 0.5 + 1e-3}


def gpu_rows():
    of = lambda key: {"ours": rf"(?m)^{key}\s+{NUMBER}"}
    for key, name in (("add", "sum of two vectors of 10^7 floats"), ("matmul", "product of two matrices, 1024^2, fp32"),
                      ("fft", "complex transform of 8192 points")):
        yield Comparison("gpu", name, "us", [
            (ours("bench_rows"), of(key)), (peer("peers/rows.py", "torch"), {"PyTorch": rf'"{key}": {NUMBER}'}),
            (peer("peers/rows.py", "numba"), {"Numba": rf'"{key}": {NUMBER}'})], lower=True)


def gpu_diffusion(folder):
    per_step = lambda label: {label: rf": {NUMBER} ms a step"}
    for n in "256", "512", "1024":
        out = os.path.join(folder, "cubic" + n)
        peers = [(scenario("cubic", f"n={n}", "steps=3", "--force", f"--output={out}", verb="run", device="cuda"), {}),
                 (peer("diffusion_cupy.py", n, out), per_step("CuPy")),
                 *((peer("peers/diffusion.py", library, n, out), per_step(label))
                   for library, label in (("torch", "PyTorch"), ("compiled", "PyTorch, compiled"), ("jax", "JAX")))]
        yield Comparison("gpu", f"cubic reaction, {n}^3", "ms a step", [
            (scenario("cubic", f"n={n}", device="cuda"), {"ours": MS}),
            (scenario("cubic", f"n={n}", "hyper=1e-6", device="cuda"), {"cuFFT, separate kernels": MS}),
            *(peers if n != "1024" else [])], lower=True)
    out = os.path.join(folder, "gray_scott")
    yield Comparison("gpu", "Gray-Scott, 4096^2, etdrk4", "ms a step", [
        (scenario("gray_scott", device="cuda"), {"ours": MS}),
        (scenario("gray_scott", "steps=10", "--force", f"--output={out}", verb="run", device="cuda"), {}),
        (peer("diffusion_jax.py", "4096", out), per_step("JAX"))], lower=True)
    small = "n=128", "side=1.25", "scheme=etdrk2"
    yield Comparison("gpu", "Gray-Scott, 256 members of 128^2, etdrk2", "ms a step of all", [
        (scenario("gray_scott", *small, "members=256", device="cuda"), {"ours": MS}),
        (scenario("gray_scott", *small, device="cuda"), {"one after the other": (MS, 256)})], lower=True)


def gpu_options():
    libraries = ("torch", "PyTorch"), ("compiled", "PyTorch, compiled"), ("cupy", "CuPy")
    alone = lambda work: scenario("option", f"work={work}", device="cuda")
    yield Comparison("gpu", "Asian call, 252 dates", "10^9 path-steps/s", [
        (alone("asian"), {"ours": (RATE, 1e-9)}),
        (peer("option_gpu.py", SIM, ours("bench_option_curand")[0], "--rounds", "1"),
         {"cuRAND, one kernel": rf"cuRAND {NUMBER}", "Numba": rf"Numba {NUMBER}",
          "JAX": rf"JAX {NUMBER}"}),
        *((peer("peers/option.py", library, "asian"), json_rate(label)) for library, label in libraries)])
    yield Comparison("gpu", "Asian call, antithetic pairs", "10^9 path-steps/s", [
        (alone("antithetic"), {"ours": (RATE, 1e-9)})])
    yield Comparison("gpu", "Asian call to a standard error of 1e-4", "ms", [
        (peer("accuracy.py", SIM, "--device", "cuda"), {"ours": rf"{NUMBER} ms"})], lower=True)
    yield Comparison("gpu", "European call", "10^9 paths/s", [
        (alone("european"), {"ours": (RATE, 1e-9)}),
        *((peer("peers/option.py", library, "european"), json_rate(label)) for library, label in libraries)])


# Gases of other random velocities: the standard errors at 10^6 are 0.1 and 0.3 %.
GAS = {rf"temperature {NUMBER}": 0.01, rf"coordination {NUMBER}": 0.02}


def gpu_comparisons(folder):
    yield from gpu_rows()
    for n, name in ("1000000", "10^6"), ("10000000", "10^7"):
        # After 400 steps, not 2000: there are an eighth more contacts than later.
        torch = [(peer("peers/collision_torch.py", n, "100"), {"PyTorch": rf": {NUMBER} ms a step"}, 8)]
        yield Comparison("gpu", f"gas of {name} spheres", "ms a step", [
            (scenario("gas", f"n={n}", "--warm=1500", "--steps=500", device="cuda"), {"ours": MS}),
            (peer("collision_numba_cuda.py", "cells", n), {"Numba, cells": rf": {NUMBER} ms a step"}),
            (peer("collision_numba_cuda.py", "lists", n), {"Numba, lists": rf": {NUMBER} ms a step"}),
            (peer("peers/collision_warp.py", n), {"Warp": rf": {NUMBER} ms a step"})]
            + (torch if name == "10^6" else []), lower=True, same=GAS)
    yield Comparison("gpu", "bed of 10^7 grains, Hertz-Mindlin with friction", "10^9 grain steps/s", [
        (peer("bed.py", "216", os.path.join(folder, "bed.h5")), {}),
        (scenario("bed", f"file={folder}/bed.h5", "--warm=130", "--steps=250", device="cuda"), {"ours": (RATE, 1e-9)})])
    openmm, numba, compiled = ("openmm-cuda", "OpenMM"), ("numba", "Numba"), ("compiled", "PyTorch, compiled")
    yield nbody_gpu(16384, "single", [openmm, numba, ("torch", "PyTorch"), compiled, ("jax", "JAX"), ("cupy", "CuPy")])
    yield nbody_gpu(65536, "single", [openmm, numba, compiled])
    yield nbody_gpu(262144, "single", [openmm, numba])
    yield nbody_gpu(65536, "double", [openmm, numba])
    bodies = functools.partial(scenario, "bodies", "n=262144", device="cuda")
    yield Comparison("gpu", "gravity as a function of a scenario, 262144 bodies", "10^9 interactions/s", [
        (bodies("pair=true"), {"ours": (RATE, 1e-9)}), (bodies("softening=0"), {"built-in tiles": (RATE, 1e-9)})])
    yield from gpu_diffusion(folder)
    yield from gpu_options()


# ---- programs ----

@functools.cache
def run(command, round_number=0):
    """Text of a program, or None with the reason where it cannot run; once a round, whatever figures it gives."""
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    except OSError as reason:
        return None, str(reason)
    limit = max(1, min(arguments.limit, left()))
    try:
        output, errors = child.communicate(timeout=limit)
    except BaseException as reason:  # with all its children, which would disturb the next program
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        if not isinstance(reason, subprocess.TimeoutExpired):
            raise
        return None, f"ended after {limit:.0f} s"
    if child.returncode == 0:
        return output, ""
    lines = (output + errors).strip().splitlines() or ["no message"]
    return None, lines[0] if child.returncode == 77 else lines[-1]


@functools.cache
def libraries():
    """Versions of the peers that are installed."""
    peers = r"(?i)(numpy|scipy|numba|torch|jax|cupy|warp|openmm|rebound|quantlib)(-cuda\d+x|-lang)?$"
    found = {package.name: package.version for package in importlib.metadata.distributions() if package.name}
    versions = {re.match(peers, name)[1].lower(): version for name, version in found.items() if re.match(peers, name)}
    lammps = re.search(r"Massively Parallel Simulator - (.+)", run(("lmp", "-h"))[0] or "") if shutil.which("lmp") else None
    return {**versions, **({"lammps": lammps[1].strip()} if lammps else {})}


def now():
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime())


def machine(sim, device):
    """One line: processor or GPU, driver and compilers."""
    text, _ = run((sim, "info"))
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in (text or "").splitlines() if line.split()}
    name = re.sub(r", GPU-[0-9a-f-]+|, [\d.]+ (of [\d.]+ )?GiB free", "", lines.get("cuda" if device == "gpu" else "cpu", ""))
    threads = f", {THREADS} threads" if device == "cpu" else ""
    return f"{name}{threads}; sim {lines.get('sim', '?')}, built {lines.get('built', '')}"


def shown(command):
    """A command in the form that a reader would type."""
    words = [word.replace(arguments.build, "build").replace(HERE, "bench") for word in command]
    return re.sub(rf"{tempfile.gettempdir()}/tmp\w+/", "", " ".join(words)).replace(sys.executable, "python3")


# ---- parts ----

def other_answer(same, far, answers, text):
    """The answer of a program that differs from the first program's, which is ours; or None."""
    for pattern, most in same.items():
        found = re.search(pattern, text)
        if not found:
            return "printed no answer"
        ours = answers.setdefault(pattern, float(found[1]))
        if not abs(float(found[1]) / ours - 1) < far * most:
            return f"another answer than ours: {found[0]}, not {ours:g}"
    return None


def measure(comparison, entry, save):
    """Saves after every program, so that little is lost when this program is ended."""
    values, missing, answers = entry["values"], entry["missing"], {}
    for number in range(arguments.rounds):
        for command, labels, *far in comparison.programs:
            if labels and all(label in missing for label in labels):
                continue
            text, reason = run(tuple(command), number) if left() > 1 else (None, "no time was left")
            if text and (other := other_answer(comparison.same, far[0] if far else 1, answers, text)):
                text, reason = None, other
            for label, pattern in labels.items():
                pattern, factor = pattern if isinstance(pattern, tuple) else (pattern, 1)
                found = [float(number) for number in re.findall(pattern, text or "")]
                if found:
                    values.setdefault(label, []).append(factor * (min if comparison.lower else max)(found))
                elif label not in values:
                    left_out = "; ".join(re.findall(r"(?m)^ *(.* is left out: .*)$", text or ""))
                    missing[label] = reason or left_out or "printed no figure"
            save()
    for label in values:
        print(f"{comparison.name}: {label}: {tables.best(entry, label):.4g} {comparison.unit} (best of {len(values[label])})",
              flush=True)
    for label, reason in missing.items():
        print(f"{comparison.name}: {label}: {reason}", flush=True)


def compare(comparison, about, save):
    entry = {**about, "unit": comparison.unit, "lower is better": comparison.lower, "values": {}, "missing": {},
             "libraries": libraries(),
             "commands": {label: shown(command) for command, labels, *_ in comparison.programs for label in labels}}
    measure(comparison, entry, lambda: save("comparisons", comparison.name, entry))
    return "ours" in entry["values"]


def bench(sim, device, model, kind):
    command = [sim, "bench", model, "--json", "--device", "cpu" if device == "cpu" else "cuda"]
    text, reason = run(tuple(command + (["--scaling"] if kind == "scaling" else [])))
    return json.loads(text) if text else {"failed": reason}


# Scenarios with outputs of one kind, and steps on the CPU and on the GPU: some seconds without any.
COSTS = {
    "nbody": ("""bodies = { sim.plummer { n = n, mass = 1, radius = 1 } }, gravity = { softening = 0.05 },
      precision = "single", integrate = { dt = 2^-14, t_end = steps * 2^-14 }""",
              {"cpu": (8192, 1000), "gpu": (65536, 2000)}, "{n} bodies"),
    "collision": ("""precision = "single", box = { size = {side, side, side}, boundary = "periodic" },
      grains = { sim.lattice { n = n, radius = 0.5, density = 6 / math.pi, temperature = 0.1 } },
      contact = { law = "linear", stiffness = 1000 }, integrate = { dt = 2^-10, t_end = steps * 2^-10 }""",
                  {"cpu": (100000, 20000), "gpu": (100000, 300000)}, "a gas of {n} grains"),
    "diffusion": ("""precision = "single", grid = { n = {n, n, n}, size = {1, 1, 1}, boundary = "periodic" },
      fields = { { name = "u", D = 0.001, initial = function(x) return math.sin(2 * math.pi * x) end } },
      rates = function(u) return 0.1 * (u - u^3) end, integrate = { scheme = "lie", dt = 2^-7, t_end = steps * 2^-7 }""",
                  {"cpu": (128, 2000), "gpu": (128, 40000)}, "{n}^3 cells"),
}


def output_cost(sim, device, model):
    """Seconds of a run with outputs of one kind each hundredth of it, and without any."""
    body, sizes, what = COSTS[model]
    n, steps = sizes[device]
    kinds = "none", "snapshots", "tables", "checkpoint"
    lines = ", ".join(f'{kind} = what == "{kind}" and "every {steps // 100} steps" or "never"' for kind in kinds[1:])
    text = (f'local what, n, steps = sim.param("what", "none"), {n}, {steps}\n'
            "local side = (n * math.pi / 1.8)^(1/3)\n"
            f"return sim.{model} {{ {body}, output = {{ {lines} }} }}\n")
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = os.path.join(folder, "cost.lua"), os.path.join(folder, "out")
        with open(scenario, "w") as file:
            file.write(text)
        times = {kind: [] for kind in kinds}
        for number in range(arguments.rounds):
            for kind in kinds:
                begin = time.perf_counter()
                done, reason = run((sim, "run", scenario, "--set", f"what={kind}", "--device",
                                    "cpu" if device == "cpu" else "cuda", "-q", "-o", out), number)
                times[kind].append(time.perf_counter() - begin)
                shutil.rmtree(out, ignore_errors=True)
                if done is None:
                    return {"failed": reason}
    return {"what": f"{what.format(n=n)}, {steps} steps", "seconds": {kind: min(t) for kind, t in times.items()}}


def start(sim, device):
    text, reason = run(tuple(peer("startup.py", sim, "--device", device)))
    return {name: {"ms": ms} for name, ms in json.loads(text).items()} if text else {"start": {"failed": reason}}


def parts(device, sim, folder):
    """(name, what it does with what every entry says and a function that keeps one)"""
    def of(kind, name, make):
        def work(about, save):
            found = make()
            save(kind, name, {**about, **found})
            return "failed" not in found

        return work

    for comparison in cpu_comparisons() if device == "cpu" else gpu_comparisons(folder):
        yield comparison.name, functools.partial(compare, comparison)
    for model in MODELS:
        yield f"sim bench {model}", of("bench", model, functools.partial(bench, sim, device, model, "bench"))
        yield f"scaling {model}", of("scaling", model, functools.partial(bench, sim, device, model, "scaling"))
    for model in COSTS:
        yield f"outputs {model}", of("outputs", model, functools.partial(output_cost, sim, device, model))

    def all_starts(about, save):
        found = start(sim, device)
        for name, entry in found.items():
            save("start", name, {**about, **entry})
        return "failed" not in found.get("start", {})

    yield "start", all_starts


def chosen(device, sim, folder):
    all_parts = list(parts(device, sim, folder))
    done = set()
    for words in arguments.only:
        for name, work in all_parts:
            if name not in done and re.search(words, name):
                done.add(name)
                yield name, work


def run_device(device, sim, folder):
    """The number of parts, and the number of parts without a figure of ours."""
    path = os.path.join(arguments.results, device + ".json")
    on = machine(sim, device)
    count = failed = 0
    for name, work in chosen(device, sim, folder):
        count += 1
        if left() < 1:
            print(f"{name}: no time was left", flush=True)
            failed += 1
            continue
        begin = time.monotonic()

        def save(kind, key, entry):
            tables.write(path, tables.merge(tables.read(path), {kind: {key: entry}}))
            if "failed" in entry:
                print(f"{name}: {entry['failed']}", flush=True)

        try:
            failed += not work({"when": now(), "on": on}, save)
        except Exception as reason:  # the other parts are still useful
            failed += 1
            print(f"{name}: {type(reason).__name__}: {reason}", flush=True)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return count, failed


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("run.py: ended by a signal; what was found is kept"))
    if arguments.list:
        for device in [arguments.device] if arguments.device else ["cpu", "gpu"]:
            for name, _ in chosen(device, SIM, ""):
                print(f"{device}: {name}")
        return
    for folder in arguments.merge:
        for device in "cpu", "gpu":
            path = os.path.join(arguments.results, device + ".json")
            new = tables.read(os.path.join(folder, device + ".json"))
            if new:
                tables.write(path, tables.merge(tables.read(path), new))
    count = failed = 0
    if not arguments.merge and not arguments.tables:
        if not os.path.exists(SIM):
            sys.exit(f"no {SIM}: build first (./dev build), or name the folder with --build")
        gpu = "compute capability" in (run((SIM, "info"))[0] or "")
        with tempfile.TemporaryDirectory() as folder:
            for device in [arguments.device] if arguments.device else ["cpu", "gpu"] if gpu else ["cpu"]:
                parts_here, failed_here = run_device(device, SIM, folder)
                count += parts_here
                failed += failed_here
        if count == 0:
            sys.exit(f"no part is named so: {' '.join(arguments.only)}; bench/run.py --list names them")
    if arguments.write or arguments.tables:
        order = [comparison.name for comparison in (*cpu_comparisons(), *gpu_comparisons(""))]
        tables.write_tables(os.path.join(ROOT, "docs/performance.md"), arguments.results, targets.target_lines, order)
    if failed:
        sys.exit(f"{failed} of {count} parts have no figure of ours")


main()
