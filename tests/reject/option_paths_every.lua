-- expect: 65 option_paths_every.lua:5: paths.every: expected at most steps = 1, got 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  paths = { count = 10, every = 2 },
}
