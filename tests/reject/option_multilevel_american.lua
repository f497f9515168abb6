-- expect: 65 option_multilevel_american.lua:5: sampling.multilevel: expected no early exercise, whose rule belongs to one number of steps
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, type = "put" } },
  sampling = { multilevel = true, standard_error = 0.01 },
}
