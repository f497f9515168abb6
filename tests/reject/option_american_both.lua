-- expect: 65 option_american_both.lua:4: payoffs[1]: exercise: says the payment alone: expected no strike, type or on beside it
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, exercise = function(path) return path.last[1] - path.last[2] end } },
}
