-- expect: 65 option_rough_steps.lua:3: assets[1]: rough_bergomi: expected at most 1024 steps, dates included, got 1025
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, eta = 1.9, hurst = 0.1, rho = -0.7 } } },
  maturity = 1, steps = 1025, payoffs = { sim.european { strike = 100 } },
}
