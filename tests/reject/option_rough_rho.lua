-- expect: 65 option_rough_rho.lua:3: assets[1].rough_bergomi.rho: expected
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, eta = 1.9, hurst = 0.1, rho = -1.1 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
