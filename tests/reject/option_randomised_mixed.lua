-- expect: 65 option_randomised_mixed.lua:5: sampling.randomised: expected precision = "double": what fp32 rounds does not shrink with the steps
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } }, precision = "mixed",
  sampling = { multilevel = true, randomised = true, standard_error = 0.01 },
}
