-- expect: 65 option_heston_curve_sigma.lua:3: assets[1].heston.sigma: expected a number > 0, got -
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = 0.04, sigma = sim.curve { {0, 0.5}, {1, -0.1} }, rho = 0 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
