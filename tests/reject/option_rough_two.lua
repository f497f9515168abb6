-- expect: 65 option_rough_two.lua:3: assets[1]: expected one of vol, heston, rough_bergomi, sabr, local_vol and vol_grid, got several
return sim.option {
  assets = { { spot = 100, vol = 0.2, rough_bergomi = { xi = 0.04, eta = 1.9, hurst = 0.1, rho = -0.7 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
