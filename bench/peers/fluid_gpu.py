#!/usr/bin/env python3
"""Steps of a fluid on a GPU by lbmpy or XLB, D3Q19 with one relaxation time in a periodic box, single precision.

    fluid_gpu.py lbmpy|xlb [N] [--steps S] [--check]
    fluid_gpu.py PATH/TO/sim [N] [--steps S] [--rounds R]

First a sheared flow decays on 32^3 cells, which must follow the viscosity to 1 %; then N^3 cells (256) are timed, S
steps (100) five times. Printed are millions of cells a second, median (best). Given `sim`, all three run in turn, each
in a process of its own, R times (2).

lbmpy: each streaming pattern with the best of several shapes of blocks, by its kernels alone and with the copies that
make the box periodic. Needs lbmpy 2 and CuPy. XLB: its stepper with JAX, called once a step, and two steps in a loop that
JAX compiles. Needs xlb and JAX; packages that XLB imports and that its steps with JAX do not use (Warp, PyVista, ...) may
be missing.

--check: the decay alone, also without a GPU. Exit 77: not installed, or no GPU.
"""
import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
from unittest.mock import MagicMock

words = argparse.ArgumentParser()
words.add_argument("what")
words.add_argument("n", type=int, nargs="?", default=256)
words.add_argument("--steps", type=int, default=100)
words.add_argument("--rounds", type=int, default=2)
words.add_argument("--check", action="store_true")
words = words.parse_args()
OMEGA, SPEED, SMALL, DECAY = 1.6, 0.05, 32, 200
BLOCKS = (64, 1, 1), (128, 1, 1), (256, 1, 1), (32, 4, 2), (128, 2, 2)


def timed(step, wait):
    """Rates of the calls of step(), each of 2 steps, in millions of cells a second."""
    rates = []
    for i in range(6):
        wait()
        begin = time.perf_counter()
        for _ in range(words.steps // 2 if i else 2):  # the first time is left out
            step()
        wait()
        rates.append(words.n**3 * words.steps / (time.perf_counter() - begin) / 1e6)
    return rates[1:]


def told(name, rates):
    print(f"{name:58} {statistics.median(rates):9.0f} ({max(rates):.0f})", flush=True)


def check(name, velocity):
    """velocity [SMALL (y)]: along x, a mean over x and z, after DECAY steps."""
    y = [math.sin(2 * math.pi * (i + 0.5) / SMALL) for i in range(SMALL)]
    found = 2 / SMALL * sum(float(v) * s for v, s in zip(velocity, y))
    right = SPEED * math.exp(-(1 / OMEGA - 0.5) / 3 * (2 * math.pi / SMALL) ** 2 * DECAY)
    if not abs(found / right - 1) < 0.01:  # XLB: 0.4 %, by Mach's number 0.09 and the width of cells
        sys.exit(f"{name}: the flow decays to {found:.5f} instead of {right:.5f}")


def of_lbmpy():
    import numpy as np
    import pystencils as ps
    from lbmpy import LBMConfig, LBMOptimisation, LBStencil, Method, Stencil, create_lb_method, create_lb_update_rule
    from lbmpy.advanced_streaming import Timestep, get_communication_slices, get_timesteps, is_inplace
    from lbmpy.macroscopic_value_kernels import macroscopic_values_getter, macroscopic_values_setter

    try:
        import cupy
        cupy.cuda.runtime.getDeviceCount()
    except Exception as fault:
        if not words.check:
            raise ImportError(f"CuPy: {fault}")
        cupy = None
    arrays, target = (cupy, ps.Target.CUDA) if cupy else (np, ps.Target.CPU)
    wait = cupy.cuda.runtime.deviceSynchronize if cupy else lambda: None
    stencil = LBStencil(Stencil.D3Q19)

    def compiled(rule):
        config = ps.CreateKernelConfig(target=target, default_dtype="float32", ghost_layers=1)
        return ps.create_kernel(rule, config=config).compile()

    def flow(n, pattern):
        """Kernels and arrays of a flow in n^3 cells, and what the populations beyond the box are copied from."""
        def populations():  # at rest, also beyond the box, whose first cell in a row is at a multiple of 128 bytes
            pitch = (n + 96) // 32 * 32
            at_rest = arrays.empty((19, n + 2, n + 2, pitch), arrays.float32)
            for array, direction in zip(at_rest, stencil):
                array[...] = (1 / 3, 1 / 18, 1 / 36)[sum(map(abs, direction))]
            return at_rest.transpose(3, 2, 1, 0)[31:31 + n + 2]

        config = dict(stencil=stencil, method=Method.SRT, relaxation_rate=OMEGA, compressible=True,
                      zero_centered=False, streaming_pattern=pattern)
        names = {name: populations() for name in ("f" if is_inplace(pattern) else "fg")}
        f, g = (ps.Field.create_from_numpy_array(name, names["f"], index_dimensions=1) for name in "fg")
        fields = LBMOptimisation(symbolic_field=f, symbolic_temporary_field=g)
        kernels, copies = [], []
        for when in get_timesteps(pattern):
            kernels.append(compiled(create_lb_update_rule(lbm_config=LBMConfig(timestep=when, **config),
                                                          lbm_optimisation=fields)))
            pairs = get_communication_slices(stencil, streaming_pattern=pattern, prev_timestep=when)
            copies.append([pair for some in pairs.values() for pair in some])
        return kernels, copies, names, f, create_lb_method(LBMConfig(**config))

    def stepper(kernels, copies, names, periodic):
        """A function that makes two steps."""
        def step():
            for i in range(2):
                if periodic:
                    for source, to in copies[i - 1 if len(copies) == 2 else 0]:  # after the step before this one
                        names["f"][to] = names["f"][source]
                kernels[i % len(kernels)](**names)
                if "g" in names:
                    names["f"], names["g"] = names["g"], names["f"]
        return step

    def verify(pattern):
        n = SMALL
        kernels, copies, names, f, method = flow(n, pattern)
        before = get_timesteps(pattern)[-1]
        u = ps.fields(f"u(3): float32[{n + 2}, {n + 2}, {n + 2}]", layout="fzyx")
        speed = arrays.zeros((3,) + (n + 2,) * 3, arrays.float32).transpose(3, 2, 1, 0)
        wave = SPEED * arrays.sin(2 * np.pi * (arrays.arange(-1, n + 1) + 0.5) / n)
        speed[..., 0] = wave.astype(arrays.float32)[None, :, None]
        compiled(macroscopic_values_setter(method, 1.0, u.center_vector, f, streaming_pattern=pattern,
                                           previous_timestep=before))(f=names["f"], u=speed)
        step = stepper(kernels, copies, names, True)
        for _ in range(DECAY // 2):
            step()
        compiled(macroscopic_values_getter(method, None, u.center_vector, f, streaming_pattern=pattern,
                                           previous_timestep=before, use_pre_collision_pdfs=False))(f=names["f"], u=speed)
        mean = speed[1:-1, 1:-1, 1:-1, 0].mean(axis=(0, 2))
        check("lbmpy " + pattern, mean.get() if cupy else mean)

    import lbmpy
    for pattern in "pull", "aa", "esopull":
        try:
            verify(pattern)
            if words.check:
                continue
            kernels, copies, names, f, method = flow(words.n, pattern)
            compiled(macroscopic_values_setter(method, 1.0, (0.01, 0.02, 0.03), f, streaming_pattern=pattern,
                                               previous_timestep=get_timesteps(pattern)[-1]))(f=names["f"])
            def rates_of(block, periodic):
                for kernel in kernels:
                    kernel.launch_config.block_size = block
                return timed(stepper(kernels, copies, names, periodic), wait)

            rates, block = max(((rates_of(b, False), b) for b in BLOCKS), key=lambda r: statistics.median(r[0]))
            name = f"{words.n}^3 lbmpy {lbmpy.__version__} {pattern}"
            told(f"{name}, kernels alone, blocks {block}", rates)
            told(f"{name}, periodic", rates_of(block, True))
            del names
            cupy.get_default_memory_pool().free_all_blocks()
        except Exception as fault:  # a pattern that this version cannot compile is told and left out
            print(f"lbmpy {pattern}: {type(fault).__name__}: {str(fault)[:300]}", flush=True)


def of_xlb():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp
    import numpy as np

    if not words.check and jax.default_backend() != "gpu":
        raise ImportError("no GPU")
    for name in "warp", "warp.utils", "pyvista", "trimesh", "matplotlib", "matplotlib.pylab", "stl", "cupy":
        try:
            __import__(name)
        except Exception:  # XLB imports it and does not use it here
            sys.modules[name] = MagicMock(name=name, __spec__=None)
    import xlb
    from xlb.compute_backend import ComputeBackend
    from xlb.grid import grid_factory
    from xlb.operator.stepper import IncompressibleNavierStokesStepper
    from xlb.precision_policy import PrecisionPolicy

    backend, policy = ComputeBackend.JAX, PrecisionPolicy.FP32FP32
    lattice = xlb.velocity_set.D3Q19(precision_policy=policy, compute_backend=backend)
    xlb.init(velocity_set=lattice, default_backend=backend, default_precision_policy=policy)

    def flow(n):
        grid = grid_factory((n, n, n), compute_backend=backend)
        stepper = IncompressibleNavierStokesStepper(grid=grid, boundary_conditions=[], collision_type="BGK")
        _, f, bc, missing = stepper.prepare_fields()
        y = jnp.sin(2 * np.pi * (jnp.arange(n, dtype=jnp.float32) + 0.5) / n)[None, :, None]
        u = jnp.stack([SPEED * y * jnp.ones((n, n, n), jnp.float32)] + 2 * [jnp.zeros((n, n, n), jnp.float32)])
        return stepper, stepper.equilibrium(jnp.ones((1, n, n, n), jnp.float32), u), f, bc, missing

    stepper, f, g, bc, missing = flow(SMALL)
    for i in range(DECAY):
        g, f = stepper(f, g, bc, missing, OMEGA, i)
    check("XLB", np.asarray(stepper.macroscopic(f)[1])[0].mean(axis=(0, 2)))
    if words.check:
        return
    stepper, f, g, bc, missing = flow(words.n)
    state = [f, g]
    del f, g

    def single():
        for i in range(2):
            old, new = stepper(state[0], state[1], bc, missing, OMEGA, i)
            state[:] = new, old

    def two(f, g):
        return jax.lax.fori_loop(0, 2, lambda i, s: stepper(s[0], s[1], bc, missing, OMEGA, i)[::-1], (f, g))

    many = jax.jit(two, donate_argnums=(0, 1))

    def loop():
        state[:] = many(*state)

    name, wait = f"{words.n}^3 XLB {xlb.__version__}, JAX {jax.__version__}", lambda: state[0].block_until_ready()
    told(f"{name}, a call a step", timed(single, wait))
    told(f"{name}, two steps a call", timed(loop, wait))


def of_sim():
    here = pathlib.Path(__file__).resolve()
    for _ in range(words.rounds):
        for collision in "regularised", "trt":
            call = [words.what, "bench", here.parent.parent / "fluid.lua", "--device", "cuda", "--warm", "10", "--steps",
                    str(words.steps), "--set", f"n={words.n}", "--set", f"collision={collision}"]
            out = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout
            rate = float(re.search(r"([0-9.]+(?:e[-+]?[0-9]+)?) cells/s", out)[1])
            told(f"{words.n}^3 sim, {collision}", [rate / 1e6])
        for peer in "lbmpy", "xlb":
            subprocess.run([sys.executable, here, peer, str(words.n), "--steps", str(words.steps)])


if words.what == "lbmpy" or words.what == "xlb":
    try:
        of_lbmpy() if words.what == "lbmpy" else of_xlb()
    except ImportError as reason:
        print("skipped:", reason)
        sys.exit(77)
else:
    of_sim()
