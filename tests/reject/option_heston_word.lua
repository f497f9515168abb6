-- expect: 65 option_heston_word.lua:3: assets[1].heston.theta: expected a number or
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = true, sigma = 0.5, rho = 0 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
