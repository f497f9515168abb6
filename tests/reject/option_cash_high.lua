-- expect: 65 option_cash_high.lua:4: payoff: expected path.max[1] in place of high[1], because this asset has cash dividends
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 2 } } } }, maturity = 1,
  payoff = function(path) return path.high[1] end,
}
