#!/usr/bin/env python3
"""Processor time of Greeks over that of the price alone: runs of one thread in turn, the least user time of each.

usage: option_greeks.py PATH/TO/sim [--rounds R]
"""
import argparse
import os
import resource
import subprocess

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()
SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "option_greeks.lua")
WORKS = [
    ("Asian of 50 steps, 1 asset", "asian", 1, "vol", 2**22),
    ("Asian of 50 steps, 2 assets", "asian", 2, "vol", 2**20),
    ("Asian of 50 steps, 5 assets", "asian", 5, "vol", 2**19),
    ("Asian of 50 steps, 5 assets, Heston", "asian", 5, "heston", 2**16),
    ("basket of 5 assets, 1 step", "european", 5, "vol", 2**22),
    ("European, 1 step", "european", 1, "vol", 2**24),
    ("European, 1 step, double, auto", "european", 1, "vol", 2**26),
]


def user_time(**values):
    command = [arguments.program, "run", SCENARIO, "--json", "-q", "--threads", "1", "--device", "cpu"]
    for name, value in values.items():
        command += ["--set", f"{name}={value}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


for name, work, n, model, paths in WORKS:
    least = {}
    more = {"precision": "double", "method": "auto"} if "double" in name else {}
    for _ in range(arguments.rounds):
        for greeks in ("none", "first", "gamma", "second"):
            time = user_time(work=work, n=n, model=model, paths=paths, greeks=greeks, **more)
            least[greeks] = min(least.get(greeks, time), time)
    print(f"| {name} | " + " | ".join(f"{least[greeks] / least['none']:.2f}" for greeks in ("first", "gamma", "second")) + " |")
