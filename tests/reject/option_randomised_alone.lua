-- expect: 65 option_randomised_alone.lua:5: sampling.randomised: expected multilevel = true
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  sampling = { randomised = true, standard_error = 0.01 },
}
