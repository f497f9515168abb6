-- expect: 65 option_high_correlated.lua:5: payoff: high or low of assets 1 and 2 in one result: these are correlated
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.2 } }, maturity = 1,
  correlation = { { 1, 0.5 }, { 0.5, 1 } },
  payoff = function(path) return sim.max(path.high[1], path.high[2]) - 100, path.high[1] end,
}
