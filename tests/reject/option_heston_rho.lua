-- expect: 65 option_heston_rho.lua:3: assets[1].heston.rho: expected a number above -1 and below 1, got -1
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = 0.04, sigma = 0.5, rho = -1 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
