-- expect: 65 option_rough_eta.lua:3: assets[1].rough_bergomi.eta: missing
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, hurst = 0.1, rho = -0.7 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
