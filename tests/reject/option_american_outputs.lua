-- expect: 65 option_american_outputs.lua:4: payoffs[1]: exercise: expected one number, got 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { exercise = function(path) return path.last[1], 1 end } },
}
