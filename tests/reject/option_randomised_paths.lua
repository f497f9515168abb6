-- expect: 65 option_randomised_paths.lua:5: sampling.paths: expected at least 7168 with multilevel
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, randomised = true, standard_error = 0.01, paths = 6144 },
}
