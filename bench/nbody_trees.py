#!/usr/bin/env python3
"""Forces of a Plummer sphere by fast multipoles of `sim`, by pytreegrav and by REBOUND's tree, in one run on the same bodies.

usage: nbody_trees.py PATH/TO/sim [--n N]... [--error E]... [--precision P] [--theta T] [--threads T] [--skip NAME]...

Prints bodies a second by processor time (of all threads together) and by the wall clock, and the median and 99.9 % of
|da| / |a| over 1000 bodies against direct sums in float64. No softening, as the codes soften by different laws. REBOUND runs on
one thread, with monopoles; pytreegrav with quadrupoles; both with the opening angle --theta, 0.5. For `sim` a step, as in
a run. Programs that are not installed are left out with a line that says so.
"""
import argparse
import os
import re
import resource
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--n", type=int, action="append")
parser.add_argument("--error", type=float, action="append")
parser.add_argument("--precision", default="mixed")
parser.add_argument("--theta", type=float, default=0.5)
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--skip", action="append", default=[], choices=["pytreegrav", "rebound"])
arguments = parser.parse_args()
os.environ["NUMBA_NUM_THREADS"] = str(arguments.threads)

import numpy as np

import steps


def plummer(n):
    """Positions [n][3] of equal bodies of total mass 1 within 20 scale lengths."""
    rng = np.random.default_rng(1)
    inside = 20**3 / 401**1.5
    r = 1 / np.sqrt((rng.random(n) * inside) ** (-2 / 3) - 1)
    direction = rng.normal(size=(n, 3))
    return r[:, None] * direction / np.linalg.norm(direction, axis=1)[:, None]


def exact(x, some):
    """Direct sums in float64 for some of the bodies of mass 1/n."""
    out = np.empty((len(some), 3))
    for k, i in enumerate(some):
        d = x - x[i]
        s2 = (d * d).sum(1)
        s2[i] = np.inf
        out[k] = (d / (s2 * np.sqrt(s2))[:, None]).sum(0) / len(x)
    return out


def used():
    """Processor seconds of this process and of its children that have ended, and the wall clock."""
    of = lambda who: sum(resource.getrusage(who)[:2])
    return np.array([of(resource.RUSAGE_SELF), of(resource.RUSAGE_CHILDREN), time.perf_counter()])


def tell(name, n, seconds, wall, errors, more=""):
    print(f"{name}, n = {n}: {n / seconds:.3g} bodies/s a processor, {n / wall:.3g} by the wall clock; median error"
          f" {errors[0]:.2g}, 99.9 % {errors[1]:.2g}{more}", flush=True)
    return seconds


def errors_of(a, direct):
    error = np.sort(np.linalg.norm(a - direct, axis=1) / np.linalg.norm(direct, axis=1))
    return error[len(error) // 2], error[int(np.ceil(0.999 * len(error))) - 1]


def of_sim(file, n, error):
    """The difference of runs of many and of few steps, which excludes the start; and the run's measured error."""
    def run(count):
        before = used()
        with tempfile.TemporaryDirectory() as folder:
            text = steps.sim(arguments.program, "run", "trees", "-o", folder + "/out", "--device", "cpu", "--threads",
                             str(arguments.threads), "--set", "file=" + file, "--set", f"steps={count}", "--set",
                             f"error={error:.17g}", "--set", "precision=" + arguments.precision, errors=subprocess.STDOUT)
        return used() - before, text

    few, more = 1, max(3, min(41, int(4e6 / n)))
    start, _ = run(few)
    end, text = run(few + more)
    found = re.search(r"median (\S+), 99.9 % of the bodies (\S+);", text)
    method = re.search(r"of order \d+, angle [\d.]+", text)[0]
    seconds, wall = (end - start)[1:] / more
    return tell(f"sim {method}", n, seconds, wall, [float(g) for g in found.groups()])


def of_pytreegrav(x, some, direct):
    import pytreegrav
    mass = np.full(len(x), 1 / len(x))
    options = dict(G=1.0, theta=arguments.theta, method="tree", parallel=arguments.threads > 1, quadrupole=True)
    pytreegrav.Accel(x[:1000], mass[:1000], **options)  # compiles
    before = used()
    a = pytreegrav.Accel(x, mass, **options)
    seconds, _, wall = used() - before
    return tell("pytreegrav", len(x), seconds, wall, errors_of(a[some], direct))


def of_rebound(x, some, direct):
    import rebound
    simulation = rebound.Simulation()
    simulation.integrator, simulation.gravity, simulation.boundary = "leapfrog", "tree", "open"
    simulation.opening_angle2 = arguments.theta**2
    simulation.root_size = 64
    simulation.dt = h = 1e-9
    mass = 1 / len(x)
    for at in x:
        simulation.add(m=mass, x=at[0], y=at[1], z=at[2])
    before = used()
    simulation.steps(1)  # drift, kick, drift from rest: v = a h
    seconds, _, wall = used() - before
    # The tree reorders bodies: each is found by its former position.
    v, at = np.empty((len(x), 3)), np.empty((len(x), 3))
    simulation.serialize_particle_data(vxvyvz=v, xyz=at)
    order = np.lexsort(x.T)[np.argsort(np.lexsort(at.T))]
    a = np.empty_like(v)
    a[order] = v / h
    return tell("REBOUND", len(x), seconds, wall, errors_of(a[some], direct))


for n in arguments.n or [100_000, 1_000_000]:
    x = plummer(n)
    some = np.random.default_rng(2).integers(n, size=1000)
    direct = exact(x, some)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "bodies.csv")
        np.savetxt(file, np.c_[np.full(n, 1 / n), x, np.zeros_like(x)], fmt="%.17g", delimiter=",",
                   header="mass,x,y,z,vx,vy,vz", comments="")
        own = {error: of_sim(file, n, error) for error in arguments.error or [1e-3, 1e-4]}
    for name, peer in ("pytreegrav", of_pytreegrav), ("rebound", of_rebound):
        if name in arguments.skip:
            continue
        try:
            seconds = peer(x, some, direct)
        except ImportError as reason:
            print(f"{name}: left out: {reason}")
            continue
        print("  " + ", ".join(f"sim with error {e:g}: {seconds / s:.3g} times as fast by processor time"
                               for e, s in own.items()), flush=True)
