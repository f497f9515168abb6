#!/usr/bin/env python3
"""Reaction-diffusion as users of PyTorch and JAX write it, timed, and its field beside that of bench_diffusion_cuda.

    bench_diffusion_cuda --n N --steps 3 --file field.bin
    diffusion.py torch|compiled|jax N [field.bin]

The problem of diffusion_cupy.py: u_t = D lap u + 0.1 (u - u^3) in a box of side 2 pi, fp32, dt = 0.1, D = 0.01; the file is
that after 3 steps. Exit 77: not installed, or no GPU.
"""
import sys
import time

try:
    import numpy as np
    library, n = sys.argv[1], int(sys.argv[2])
    if library == "jax":
        import os
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

STEPS, D, DT = 3, 0.01, 0.1


def start():
    word = np.arange(n**3, dtype=np.uint32) * np.uint32(2654435761)
    word ^= word >> np.uint32(15)
    word *= np.uint32(2246822519)
    word ^= word >> np.uint32(13)
    return ((word >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)).reshape(n, n, n)


def multiplier():
    k2, half = np.fft.fftfreq(n, 1 / n) ** 2, np.fft.rfftfreq(n, 1 / n) ** 2
    f = [np.exp(-D * DT * k).astype(np.float32) for k in (k2, half)]
    return f[0][:, None, None] * f[0][None, :, None] * f[1][None, None, :]


def react(u):
    return u + DT * (0.1 * (u - u * u * u))


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
    ours, theirs = np.fromfile(sys.argv[3], dtype=np.float32).reshape(n, n, n), host(u)
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
