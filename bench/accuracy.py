#!/usr/bin/env python3
"""Time of an Asian call's steps to a standard error of 1e-4 (bench/option.lua), from the path-steps and their rate.

usage: accuracy.py PATH/TO/sim [--device D]
"""
import argparse
import json
import os
import tempfile

import steps

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--device", default="auto")
arguments = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    steps.sim(arguments.program, "run", "option", "--set", "work=accuracy", "--device", arguments.device, "--output", folder)
    with open(os.path.join(folder, "status.json")) as file:
        status = json.load(file)
print(f"{1e3 * 252 * status['time'] / status['rate']:.4g} ms")
