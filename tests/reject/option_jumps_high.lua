-- expect: 65 option_jumps_high.lua:4: payoff: expected path.max[1] in place of high[1], because this asset jumps
return sim.option {
  assets = { { spot = 100, vol = 0.2, jumps = { rate = 1, deviation = 0.1 } } }, maturity = 1,
  payoff = function(path) return sim.max(path.high[1] - 120, 0) end,
}
