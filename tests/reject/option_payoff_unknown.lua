-- expect: 65 option_payoff_unknown.lua:4: payoff: unknown input
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return path.median[1] + path.last[1] end,
}
