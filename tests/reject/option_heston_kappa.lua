-- expect: 65 option_heston_kappa.lua:3: assets[1].heston.kappa: expected a number > 0, got 0
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 0, theta = 0.04, sigma = 0.5, rho = 0 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
