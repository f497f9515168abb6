#!/usr/bin/env python3
"""Direct sums with softening as users of other libraries write or run them: 10^9 interactions a second.

usage: nbody.py torch|compiled|jax|cupy|numba|openmm-cuda|openmm-cpu|rebound [--n N] [--precision single|double]

Each is checked first against the same sums in float64 by NumPy, for some of the bodies. Prints {"rate": ...}, the best of
some repeats; exit 77: not installed, or no GPU. REBOUND always uses double precision and one thread.
"""
import argparse
import json
import os
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("library", choices=["torch", "compiled", "jax", "cupy", "numba", "openmm-cuda", "openmm-cpu", "rebound"])
parser.add_argument("--n", type=int, default=16384)
parser.add_argument("--precision", choices=["single", "double"], default="single")
arguments = parser.parse_args()
N, EPS2 = arguments.n, 1e-4

try:
    import numpy as np
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # some versions of numba ask for it
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

REAL = np.float32 if arguments.precision == "single" else np.float64
# When it begins, OpenMM on a GPU looks for each particle's like among all kinds of particles: with as many masses as bodies
# that takes minutes. Its rate does not depend on them.
MASSES = 8 if arguments.library.startswith("openmm") else None


def bodies():
    rng = np.random.default_rng(1)
    masses = rng.random(N) + 0.5
    if MASSES:
        masses = np.floor(masses * MASSES) / MASSES
    return masses.astype(REAL), (rng.random((N, 3)) - 0.5).astype(REAL)


def check(accelerations, eps=np.finfo(REAL).eps):
    """Of 64 bodies: a component is within (24 + N) eps of the sum of its absolute terms."""
    m, x = (a.astype(float) for a in bodies())
    for i in range(0, N, max(1, N // 64)):
        d = x - x[i]
        terms = (m / ((d**2).sum(1) + EPS2) ** 1.5)[:, None] * d
        if not (np.abs(accelerations[i] - terms.sum(0)) <= (24 + N) * eps * np.abs(terms).sum(0)).all():
            sys.exit(f"the acceleration of body {i} is wrong: {accelerations[i]}, not {terms.sum(0)}")


def best(call, seconds=2.0):
    least, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
    return N * (N - 1) / least / 1e9


def of_torch(compiled):
    import torch
    if not torch.cuda.is_available():
        raise ImportError("no GPU")
    m, x = (torch.from_numpy(a).cuda() for a in bodies())
    # A slice of rows at a time: the whole matrix does not fit, and a slice fits into the caches.
    rows = N if compiled else max(1, min(N, (1 << 26) // N))

    def part(at):
        d = x[None] - at[:, None]
        s = (d * d).sum(2) + EPS2
        return ((m * s**-1.5)[:, :, None] * d).sum(1)

    def columns(at):
        d = [x[None, :, c] - at[:, None, c] for c in range(3)]
        f = m * torch.rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + EPS2) ** 3
        return torch.stack([(f * e).sum(1) for e in d], 1)

    function = torch.compile(columns) if compiled else columns
    run = lambda: torch.cat([function(x[i:i + rows]) for i in range(0, N, rows)])
    check(run().cpu().numpy())

    def call():
        run()
        torch.cuda.synchronize()

    return best(call)


def of_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp
    if jax.default_backend() != "gpu":
        raise ImportError("no GPU")
    jax.config.update("jax_enable_x64", REAL is np.float64)
    m, x = (jnp.asarray(a) for a in bodies())

    @jax.jit
    def run(m, x):
        def of_one(at):
            d = x - at
            f = m * jax.lax.rsqrt((d * d).sum(1) + REAL(EPS2)) ** 3
            return (f[:, None] * d).sum(0)

        return jax.lax.map(of_one, x, batch_size=1024)

    check(np.asarray(run(m, x)))
    return best(lambda: run(m, x).block_until_ready())


def of_cupy():
    import cupy
    m, x = map(cupy.asarray, bodies())
    rows, columns = max(1, min(N, (1 << 26) // N)), [cupy.ascontiguousarray(x[:, c]) for c in range(3)]

    @cupy.fuse()
    def weight(a, b, c, mass):
        s = a * a + b * b + c * c + REAL(EPS2)
        r = 1 / cupy.sqrt(s)
        return mass * r * r * r

    def run():
        out = cupy.empty((N, 3), REAL)
        for i in range(0, N, rows):
            d = [c[None] - c[i:i + rows, None] for c in columns]
            f = weight(*d, m)
            for c in range(3):
                out[i:i + rows, c] = (f * d[c]).sum(1)
        return out

    check(cupy.asnumpy(run()))

    def call():
        run()
        cupy.cuda.Device().synchronize()

    return best(call)


def of_numba():
    import math
    from numba import cuda, float32, float64
    if not cuda.is_available():
        raise ImportError("no GPU")
    real, threads = float32 if REAL is np.float32 else float64, 256

    @cuda.jit(fastmath=True)
    def sums(m, x, out):
        tile = cuda.shared.array((threads, 4), real)
        i, t = cuda.grid(1), cuda.threadIdx.x
        mine = min(i, m.size - 1)
        x0, x1, x2 = x[mine, 0], x[mine, 1], x[mine, 2]
        a0 = a1 = a2 = real(0)
        for first in range(0, m.size, threads):
            j = min(first + t, m.size - 1)
            tile[t, 0], tile[t, 1], tile[t, 2] = x[j, 0], x[j, 1], x[j, 2]
            tile[t, 3] = m[j] if first + t < m.size else real(0)
            cuda.syncthreads()
            for k in range(threads):
                d0, d1, d2 = tile[k, 0] - x0, tile[k, 1] - x1, tile[k, 2] - x2
                r = real(1) / math.sqrt(d0 * d0 + d1 * d1 + d2 * d2 + real(EPS2))
                f = tile[k, 3] * r * r * r
                a0 += f * d0
                a1 += f * d1
                a2 += f * d2
            cuda.syncthreads()
        if i < m.size:
            out[i, 0], out[i, 1], out[i, 2] = a0, a1, a2

    m, x = map(cuda.to_device, bodies())
    out = cuda.device_array((N, 3), REAL)
    run = lambda: sums[(N + threads - 1) // threads, threads](m, x, out)
    run()
    check(out.copy_to_host())

    def call():
        run()
        cuda.synchronize()

    return best(call)


def of_openmm(platform):
    import openmm
    try:
        chosen = openmm.Platform.getPlatformByName(platform)
    except openmm.OpenMMException as reason:
        raise ImportError(reason)
    m, x = bodies()
    system = openmm.System()
    force = openmm.CustomNonbondedForce("-m1 * m2 / sqrt(r^2 + %g)" % EPS2)
    force.addPerParticleParameter("m")
    force.setNonbondedMethod(openmm.CustomNonbondedForce.NoCutoff)
    for mass in m:
        system.addParticle(float(mass))
        force.addParticle([float(mass)])
    system.addForce(force)
    properties = {"Precision": arguments.precision} if platform == "CUDA" else {"Threads": str(len(os.sched_getaffinity(0)))}
    context = openmm.Context(system, openmm.VerletIntegrator(1e-9), chosen, properties)
    context.setPositions(x.astype(float))
    state = context.getState(getForces=True)
    # Its sums are in fixed point, and its CPU platform always uses single precision.
    check(np.array(state.getForces(asNumpy=True)._value) / m[:, None].astype(float), np.finfo(np.float32).eps)
    context.getIntegrator().step(1)
    # Steps are queued, and positions wait for the last: for so many that fetching them is nothing beside it.
    steps = max(2, int(2e11 / N**2)) if platform == "CUDA" else 1

    def call():
        context.getIntegrator().step(steps)
        context.getState(getPositions=True)

    return steps * best(call)


def of_rebound():
    import rebound
    m, x = (a.astype(float) for a in bodies())
    simulation = rebound.Simulation()
    simulation.integrator, simulation.gravity = "leapfrog", "basic"
    simulation.softening, simulation.dt = EPS2**0.5, 1e-9
    for mass, at in zip(m, x):
        simulation.add(m=mass, x=at[0], y=at[1], z=at[2])
    h = simulation.dt
    simulation.steps(1)  # drift, kick, drift from rest: v = a h
    check(np.array([(p.vx, p.vy, p.vz) for p in simulation.particles]) / h, 1e-9)
    return best(lambda: simulation.steps(1))


try:
    name = arguments.library
    rate = (of_torch(name == "compiled") if name in ("torch", "compiled") else of_jax() if name == "jax" else
            of_cupy() if name == "cupy" else of_numba() if name == "numba" else of_rebound() if name == "rebound" else
            of_openmm("CUDA" if name == "openmm-cuda" else "CPU"))
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)
print(json.dumps({"rate": rate}))
