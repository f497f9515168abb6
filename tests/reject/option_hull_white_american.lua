-- expect: 65 option_hull_white_american.lua:5: payoffs[1]: upper_paths: the paths from a date on do not know the rate of hull_white: expected no upper_paths
return sim.option {
  assets = { { spot = 100, vol = 0.2 } },
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.american { strike = 100, type = "put", upper_paths = 64 } }, steps = 4,
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
