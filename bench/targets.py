"""The figures that this project aims at, and the corresponding results in bench/results/."""
from tables import best, number, ratio

NBODY, DOUBLE, SMALL = "direct sum, single, 262144 bodies", "direct sum, double, 65536 bodies", "direct sum, single, 16384 bodies"
CPU_NBODY, CPU_DOUBLE = "direct sum, 16384 bodies", "direct sum, double, 16384 bodies"
GAS, LARGE_GAS, BED = "gas of 10^6 spheres", "gas of 10^7 spheres", "bed of 10^7 grains, Hertz-Mindlin with friction"
CPU_GAS, CUBIC = "gas of 10^6 grains", "cubic reaction, 512^3"
ASIAN, CPU_ASIAN = "Asian call, 252 dates", "Asian call, 252 dates"
ROWS = ("sum of two vectors of 10^7 floats", "product of two matrices, 1024^2, fp32", "complex transform of 8192 points", GAS)

# Comparison; what ours is to be (at the most where lower is better, else at the least), and further on; how many times
# as fast as others.
COMPARED = {
    "gpu": [
        (NBODY, 3000, 3300, {"the sample's algorithm": 1.6, "Numba": 3.3, "OpenMM": 4}),
        (SMALL, 2200, None, {"the sample's algorithm": 3.1, "OpenMM": 2.5}),
        (DOUBLE, 700, None, {"OpenMM": 2.4}),
        (LARGE_GAS, 0.28, 0.18, {"Warp": 14, "Numba, cells": 24}),
        (GAS, 0.03, 0.014, {"Warp": 18}),
        (BED, 7, None, {}),
        (CUBIC, 0.95, 0.75, {"cuFFT, separate kernels": 2.8, "CuPy": 3.6}),
        ("cubic reaction, 256^3", 0.11, None, {}),
        ("cubic reaction, 1024^3", 12, None, {}),
        (ASIAN, 1100, None, {"cuRAND, one kernel": 1.2, "Numba": 5.7, "JAX": 12}),
        ("Asian call, antithetic pairs", 1650, None, {}),
        ("Asian call to a standard error of 1e-4", 5, None, {}),
        ("gravity as a function of a scenario, 262144 bodies", None, None, {"built-in tiles": 0.95}),
        *((row, None, None, {"PyTorch": 1, "Numba, lists" if row == GAS else "Numba": 1}) for row in ROWS),
    ],
    "cpu": [
        (CPU_NBODY, 12, None, {"Numba": 1.65}),
        (CPU_DOUBLE, 5, None, {"Numba": 2.2, "REBOUND, 1 thread": 15}),
        (CPU_GAS, 300, 640, {"LAMMPS gran/hooke, double": 15, "Numba, cells": 30}),
        ("cubic reaction, 256^3", 16, 12, {"scipy.fft": 12}),
        (CPU_ASIAN, 1.8, None, {"NumPy": 25, "Numba": 25, "JAX": 25}),
    ],
}
# Kernel of `sim bench`, its greatest size: the share of the ceiling, with the most threads.
SHARES = {"cpu": [("nbody", "direct sum, single", 0.9), ("nbody", "direct sum, double", 0.9)], "gpu": []}
START = {"cpu": {"sim --version": 5, "first step, nbody": 300, "first step, diffusion": 300},
         "gpu": {"first step, nbody": 1000, "first step, diffusion 256^3, nothing compiled before": 1000,
                 "first step, diffusion 512^3, strang, nothing compiled before": 1000,
                 **{f"{name}.lua, nothing compiled before": 1000
                    for name in ("european", "own_payoff", "heston_barrier", "american_put", "basket_sobol")}}}
OUTPUTS = 0.03  # of a run's time, a hundred times in it


def verdict(met):
    return "yes" if met else "**no**"


def target_lines(device, results):
    yield "| | asked | got | met |"
    yield "|---|---|---|---|"
    for name, asked, further, peers in COMPARED[device]:
        entry = results.get("comparisons", {}).get(name)
        got = best(entry, "ours") if entry else None
        sign = "<=" if entry and entry["lower is better"] else ">="
        if asked is not None:
            words = f"{sign} {asked:g} {entry['unit']}" if entry else f"{asked:g}"
            words += f", at best {further:g}" if further else ""
            reached = lambda bound: got <= bound if sign == "<=" else got >= bound
            met = "not measured" if got is None else verdict(reached(asked))
            if got is not None and further and reached(asked):
                met += ", at best too" if reached(further) else ", at best no"
            yield f"| {name} | {words} | {'-' if got is None else number(got)} | {met} |"
        for peer, times in peers.items():
            was = ratio(entry, peer) if entry and (peer in entry["values"] or peer in entry.get("earlier", {})) else None
            met = "not measured" if was is None else verdict(was >= times)
            yield f"| {name} | {times:g} x {peer} | {'-' if was is None else number(was) + ' x'} | {met} |"
    for model, kernel, asked in SHARES[device]:
        of = [r for r in results.get("bench", {}).get(model, {}).get("results", []) if r["kernel"] == kernel and r.get("share")]
        if of:
            r = max(of, key=lambda r: (r["n"], r["threads"]))
            yield (f"| {kernel}, {r['n']} {r['size']}, {r['threads']} threads | >= {100 * asked:g} % of the multiply-adds | "
                   f"{100 * r['share']:.0f} % | {verdict(r['share'] >= asked)} |")
    for name, part in results.get("outputs", {}).items():
        for kind in ("snapshots", "tables", "checkpoint"):
            if "seconds" in part:
                share = part["seconds"][kind] / part["seconds"]["none"] - 1
                yield (f"| {name}, {kind} every 1 % of a run of {part['seconds']['none']:.2g} s | <= {100 * OUTPUTS:g} % of "
                       f"its time | {100 * share:.1f} % | {verdict(share <= OUTPUTS)} |")
    for name, most in START[device].items():
        part = results.get("start", {}).get(name, {})
        got = part["ms"]["min"] if "ms" in part else None
        yield (f"| {name} | <= {most:g} ms | {'-' if got is None else number(got) + ' ms'} "
               f"| {'not measured' if got is None else verdict(got <= most)} |")
