-- expect: 65 option_american_upper.lua:4: payoffs[1]: upper_paths: the paths from a date on begin at prices alone: expected assets with vol
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.5 } } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, type = "put", upper_paths = 100 } },
}
