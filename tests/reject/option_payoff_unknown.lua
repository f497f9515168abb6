-- expect: 65 option_payoff_unknown.lua:4: payoff: unknown input 'path.lst[1]', nearest is 'last'
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return path.lst[1] + path.last[1] end,
}
