-- expect: 65 option_heston_steps.lua:3: assets[1].heston: steps = 1 are too long
return sim.option {
  assets = { { spot = 100, heston = { v = 0.4, kappa = 8, theta = 0.02, sigma = 0.5, rho = -0.7 } } },
  maturity = 1, steps = 1, payoffs = { sim.european { strike = 100 } },
}
