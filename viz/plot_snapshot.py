#!/usr/bin/env python3
"""Draws the surface density of a snapshot's particles, seen along z, on a logarithmic scale.

plot_snapshot.py galaxy.out                       the last snapshot of a run, to galaxy.png
plot_snapshot.py galaxy.out/snap/snap_00000100.h5 -o picture.png --size 8

Needs numpy, h5py and matplotlib, and knows the openPMD file format alone."""

import argparse
import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm


def find_snapshot(path):
    path = pathlib.Path(path)
    if path.is_file():
        return path
    snapshots = sorted(path.glob("snap/snap_*.h5")) or sorted(path.glob("snap_*.h5"))
    if not snapshots:
        sys.exit(f"plot_snapshot.py: no snapshot in {path}")
    return snapshots[-1]


def component(record, name, count):
    """A record's component: a dataset, or a group that holds one constant value."""
    item = record[name] if name else record
    if isinstance(item, h5py.Group):
        return np.full(count, item.attrs["value"], dtype=float)
    return item[:].astype(float)


def read_particles(path, names):
    """x, y, mass of the named species (None: all), in the file's own units; and the time."""
    columns = [], [], []
    with h5py.File(path, "r") as file:
        iteration = next(iter(file["data"].values()))
        for name, species in iteration["particles"].items():
            if names and name not in names:
                continue
            x = component(species["position"], "x", 0)
            columns[0].append(x)
            columns[1].append(component(species["position"], "y", len(x)))
            columns[2].append(component(species["mass"], None, len(x)) if "mass" in species else np.ones(len(x)))
        time = float(iteration.attrs["time"])
    if not columns[0]:
        sys.exit(f"plot_snapshot.py: no particles of {names or 'any species'} in {path}")
    return *(np.concatenate(column) for column in columns), time


def blur(image, width):
    """Convolves with a Gaussian of `width` pixels; what leaves on one side does not come back on the other."""
    n = image.shape[0]
    frequency = np.fft.fftfreq(2 * n)
    gauss = np.exp(-2 * (np.pi * width * frequency) ** 2)
    spectrum = np.fft.fft2(image, (2 * n, 2 * n)) * gauss[:, None] * gauss[None, :]
    return np.maximum(np.fft.ifft2(spectrum).real[:n, :n], 0)


def surface_density(x, y, mass, edges, neighbours=6):
    """Mass a unit of area. Each particle is a Gaussian about as wide as the distance to its neighbours, so that single
    ones far out stay visible as haze and dense parts keep their detail."""
    pixels = len(edges[0]) - 1
    spread = lambda weights, chosen=slice(None): np.histogram2d(x[chosen], y[chosen], bins=edges, weights=weights)[0]
    crowd = blur(spread(None), pixels / 60) + 1e-3 / pixels
    column = [np.clip(np.searchsorted(edge, at) - 1, 0, pixels - 1) for edge, at in zip(edges, (x, y))]
    width = np.clip(np.sqrt(neighbours / (np.pi * crowd[column[0], column[1]])), 0.8, pixels / 60)
    steps = np.round(2 * np.log2(width)).astype(int)  # widths in powers of the square root of two
    image = sum(blur(spread(mass[steps == k], steps == k), 2.0 ** (k / 2)) for k in np.unique(steps))
    return image / ((edges[0][1] - edges[0][0]) * (edges[1][1] - edges[1][0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="an output folder, or one snapshot")
    parser.add_argument("-o", "--output", help="picture to write (folder's name with .png)")
    parser.add_argument("--species", help="draw these alone, e.g. west,east (all)")
    parser.add_argument("--size", type=float, help="half the width of the picture, in the file's units")
    parser.add_argument("--pixels", type=int, default=800, help="pixels along each side of the density (800)")
    parser.add_argument("--map", default="cividis", choices=["cividis", "viridis"], help="colour map")
    options = parser.parse_args()

    snapshot = find_snapshot(options.path)
    x, y, mass, time = read_particles(snapshot, options.species.split(",") if options.species else None)
    # Centred on the median; wide enough for 99 % of the particles.
    centre = np.median(x), np.median(y)
    half = options.size or float(np.percentile(np.maximum(abs(x - centre[0]), abs(y - centre[1])), 99)) or 1.0
    edges = [np.linspace(c - half, c + half, options.pixels + 1) for c in centre]
    density = surface_density(x, y, mass, edges)
    if not density.max() > 0:
        sys.exit(f"plot_snapshot.py: nothing within {half} of the centre")
    norm = LogNorm(vmin=density.max() / 1e3, vmax=density.max(), clip=True)

    figure, axes = plt.subplots(figsize=(8, 8), dpi=100)
    axes.set_facecolor(matplotlib.colormaps[options.map](0.0))
    image = axes.imshow(density.T, origin="lower", norm=norm, cmap=options.map, interpolation="bilinear",
                        extent=[edges[0][0], edges[0][-1], edges[1][0], edges[1][-1]])
    axes.set(xlabel="x", ylabel="y", title=f"t = {time:.4g}, {len(x)} bodies")
    figure.colorbar(image, label="surface density", shrink=0.8)
    figure.tight_layout()

    output = options.output or f"{snapshot.resolve().parent.parent.stem}.png"
    figure.savefig(output)
    print(output)


if __name__ == "__main__":
    main()
