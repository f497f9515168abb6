-- expect: 65 option_payoff_string.lua:4: payoff
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return "much" end,
}
