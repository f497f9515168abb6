-- expect: 65 option_rough_hurst.lua:3: assets[1].rough_bergomi.hurst: expected
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, eta = 1.9, hurst = 0.6, rho = -0.7 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
