-- expect: 65 option_multilevel_error.lua:5: sampling.multilevel: expected standard_error, the error at which the run ends
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, paths = 2^20 },
}
