-- expect: 65 option_payoff_condition.lua:4: payoff: result 1 is a condition
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return sim.lt(path.last[1], 100) end,
}
