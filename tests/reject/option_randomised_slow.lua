-- expect: 65 option_randomised_slow.lua:5: sampling.randomised: assets[1].heston: 2 kappa theta/sigma^2 = 0.04: expected at least 0.75
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 0.5, theta = 0.04, sigma = 1, rho = -0.9 } } }, maturity = 5, steps = 20,
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, randomised = true, standard_error = 0.1 },
}
