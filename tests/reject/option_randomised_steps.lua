-- expect: 65 option_randomised_steps.lua:5: sampling.randomised: expected at most 6250 steps, the fewest that the payoffs observe
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 10000,
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, randomised = true, standard_error = 0.01 },
}
