-- expect: 65 option_grid_size.lua:3: assets[1].vol_grid: vols: expected 4 numbers, spots times times, got 3
return sim.option {
  assets = { { spot = 100, vol_grid = { spots = { 50, 150 }, times = { 0, 1 }, vols = { 0.2, 0.2, 0.3 } } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
