-- expect: 65 option_grid_negative.lua:3: assets[1].vol_grid.vols
return sim.option {
  assets = { { spot = 100, vol_grid = { spots = { 50, 150 }, times = { 0 }, vols = { 0.2, -0.1 } } } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
