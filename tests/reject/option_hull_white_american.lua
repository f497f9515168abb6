-- expect: 65 option_hull_white_american.lua:5: payoffs[1]: early exercise is not built for hull_white
return sim.option {
  assets = { { spot = 100, vol = 0.2 } },
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.american { strike = 100, type = "put" } }, steps = 4,
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
