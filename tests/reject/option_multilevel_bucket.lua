-- expect: 65 option_multilevel_bucket.lua:6: sampling.multilevel: expected no greeks.rho_bucket
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  rate = sim.curve { {0, 0.02}, {1, 0.03} },
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, standard_error = 0.01 },
  greeks = { rho_bucket = true },
}
