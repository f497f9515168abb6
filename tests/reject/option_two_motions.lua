-- expect: 65 option_two_motions.lua:3: assets[1]: expected one of vol, heston, rough_bergomi, sabr, local_vol and vol_grid, got several
return sim.option {
  assets = { { spot = 100, vol = 0.2, heston = { v = 0.04, kappa = 1, theta = 0.04, sigma = 0.5, rho = 0 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
