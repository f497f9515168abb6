-- expect: 65 option_exposure_rough.lua:3: assets[1]: exposure: expected vol, heston, local_vol or vol_grid, whose state at a date is known
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, eta = 1, hurst = 0.1, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 } },
}
