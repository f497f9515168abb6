#!/usr/bin/env python3
"""The Asian call on 252 prices of bench_option as QuantLib's own Monte Carlo engine prices it, on one thread.

usage: option_quantlib.py [--paths P]      prints {"rate": 10^9 path-steps a second}; exit 77: not installed
"""
import argparse
import json
import math
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--paths", type=int, default=40000)
arguments = parser.parse_args()
STEPS, KNOWN = 252, 5.781824  # the price; its payoff's deviation is 8

try:
    import QuantLib as ql
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

today = ql.Date(2, 1, 2024)
ql.Settings.instance().evaluationDate = today
days = ql.Actual365Fixed()
flat = lambda rate: ql.YieldTermStructureHandle(ql.FlatForward(today, rate, days))
# 252 dates within a year of 252 days: rate and variance are those of a whole year.
scale = 365 / STEPS
vol = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), 0.2 * math.sqrt(scale), days))
process = ql.BlackScholesMertonProcess(ql.QuoteHandle(ql.SimpleQuote(100)), flat(0.0), flat(0.05 * scale), vol)
dates = [today + k for k in range(1, STEPS + 1)]
option = ql.DiscreteAveragingAsianOption(ql.Average.Arithmetic, 0.0, 0, dates,
                                         ql.PlainVanillaPayoff(ql.Option.Call, 100), ql.EuropeanExercise(dates[-1]))
engine = ql.MCDiscreteArithmeticAPEngine(process, "pseudorandom", controlVariate=False,
                                         requiredSamples=arguments.paths, seed=42)
option.setPricingEngine(engine)
begin = time.perf_counter()
price = option.NPV()
took = time.perf_counter() - begin
if abs(price - KNOWN) > 5 * 8 / math.sqrt(arguments.paths):
    sys.exit(f"the price is wrong: {price}")
print(json.dumps({"rate": arguments.paths * STEPS / took / 1e9}))
