-- expect: 65 option_hull_white_continuous.lua:5: payoffs[1]: expected monitoring = "steps" with hull_white
return sim.option {
  assets = { { spot = 100, vol = 0.2 } },
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.barrier { strike = 100, level = 80, monitoring = "continuous" } },
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
