#!/usr/bin/env python3
"""Reaction-diffusion as users of PyTorch and JAX write it, timed, and its field compared with that of ../cubic.lua.

    sim run cubic.lua --device cuda --set n=N --set steps=3 --output FOLDER
    diffusion.py torch|compiled|jax N [FOLDER]

Exit 77: not installed, or no GPU.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import steps

try:
    import numpy as np
    library, n = sys.argv[1], int(sys.argv[2])
    if library == "jax":
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax
        import jax.numpy as jnp
        version, found = jax.__version__, jax.default_backend() == "gpu"
    else:
        import torch
        version, found = torch.__version__, torch.cuda.is_available()
    if not found:
        raise ImportError("no GPU")
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

STEPS, D, DT = 3, 0.01, 0.01


def start():
    at = (np.arange(n) + 0.5) * (2 * np.pi / n)
    x, y, z = at[None, None, :], at[None, :, None], at[:, None, None]
    return (np.sin(x) * np.cos(2 * y) + 0.5 * np.cos(3 * z)).astype(np.float32)


def multiplier():
    k2, half = np.fft.fftfreq(n, 1 / n) ** 2, np.fft.rfftfreq(n, 1 / n) ** 2
    f = [np.exp(-D * DT * k).astype(np.float32) for k in (k2, half)]
    return f[0][:, None, None] * f[0][None, :, None] * f[1][None, None, :]


def react(u):
    return u + DT * (u - u * u * u)


def of_torch():
    table = torch.from_numpy(multiplier()).cuda()

    def step(u):
        return torch.fft.irfftn(torch.fft.rfftn(react(u)) * table, s=(n, n, n))

    u = torch.from_numpy(start()).cuda()
    return (torch.compile(step) if library == "compiled" else step), u, torch.cuda.synchronize, lambda u: u.cpu().numpy()


def of_jax():
    table = jnp.asarray(multiplier())
    step = jax.jit(lambda u, table: jnp.fft.irfftn(jnp.fft.rfftn(react(u)) * table, s=(n, n, n)), donate_argnums=0)
    box = [jnp.asarray(start())]

    def advance(u):
        box[0] = step(u, table)
        return box[0]

    return advance, box[0], lambda: box[0].block_until_ready(), np.asarray


step, u, wait, host = of_jax() if library == "jax" else of_torch()
for _ in range(STEPS):
    u = step(u)
if len(sys.argv) > 3:
    ours, theirs = steps.last_field(sys.argv[3], "u")[0], host(u)
    apart = np.sqrt(((ours - theirs) ** 2).mean(dtype=float) / (theirs**2).mean(dtype=float))
    print(f"fields differ by {apart:.2g} (L2, relative)")
    if not apart < 1e-5:  # fp32's rounding of three steps: 1e-6
        sys.exit("the fields are not the same")
times = []
for _ in range(5):
    wait()
    begin = time.perf_counter()
    for _ in range(10):
        u = step(u)
    wait()
    times.append((time.perf_counter() - begin) / 10)
print(f"{n}^3 {library} {version}: {1e3 * sorted(times)[2]:.4f} ms a step")
