#!/usr/bin/env python3
"""The packing that bench/bed.lua reads, as an openPMD snapshot: ACROSS^3 grains of unit diameter on a cubic lattice, pressed
together by a thousandth, that move as one body. With --shuffled their numbers do not follow their positions.

usage: bed.py ACROSS FILE.h5 [--shuffled]
"""
import argparse

import h5py
import numpy

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("across", type=int)
parser.add_argument("file")
parser.add_argument("--shuffled", action="store_true")
arguments = parser.parse_args()
random = numpy.random.default_rng(1)
count = arguments.across**3
site = random.permutation(count) if arguments.shuffled else numpy.arange(count)
with h5py.File(arguments.file, "w") as file:
    file.attrs.update(openPMD="1.1.0", openPMDextension=numpy.uint32(0), basePath="/data/%T/", particlesPath="particles/")
    grains = file.create_group("data/0/particles/grains")
    grains["mass"] = numpy.ones(count)
    for c, axis in enumerate("xyz"):
        grains[f"position/{axis}"] = 0.999 * (site // arguments.across**c % arguments.across + 0.5)
        grains[f"velocity/{axis}"] = random.normal(0.2 * (axis == "x"), 1e-3, count)
