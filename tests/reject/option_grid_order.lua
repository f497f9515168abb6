-- expect: 65 option_grid_order.lua:3: assets[1].vol_grid: spots: expected ascending numbers, got 80 after 90
return sim.option {
  assets = { { spot = 100, vol_grid = { spots = { 90, 80 }, times = { 0, 1 }, vols = { 0.2, 0.2, 0.2, 0.2 } } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
