-- expect: 65 option_payoff_bare.lua:4: payoff: unknown input 'path.last', expected path.last[i]
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return path.last end,
}
