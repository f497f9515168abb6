-- expect: 65 option_exposure_sabr.lua:3: assets[1]: exposure: expected vol, heston, local_vol or vol_grid, whose state at a date is known
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = -0.3, nu = 0.3 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 } },
}
