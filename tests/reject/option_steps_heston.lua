-- expect: 65 option_steps_heston.lua: steps: missing: assets[1].heston moves in steps whose error falls
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 0.5, theta = 0.04, sigma = 1, rho = -0.9 } } },
  maturity = 10, payoffs = { sim.european { strike = 140 } },
}
