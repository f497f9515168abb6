-- expect: 65 option_multilevel_between.lua:5: sampling.multilevel: expected monitoring = "steps", and max and min in place of high and low
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.barrier { strike = 100, level = 80, monitoring = "continuous" } },
  sampling = { multilevel = true, standard_error = 0.01 },
}
