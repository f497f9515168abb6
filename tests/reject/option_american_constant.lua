-- expect: 65 option_american_constant.lua:4: payoffs[1]: exercise: expected a function of prices, got a constant
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { exercise = function(path) return 1 end } },
}
