-- expect: 65 option_american_max_upper.lua:4: payoffs[1]
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4, rate = 0.02,
  payoffs = { sim.american { exercise = function(path) return path.max[1] - 100 end, upper_paths = 64 } },
}
