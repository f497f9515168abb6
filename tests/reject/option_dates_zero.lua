-- expect: 65 option_dates_zero.lua:4: payoffs[1]: dates: expected ascending times above 0, at most the maturity 1, got 0
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.lookback { dates = { 0, 0.25 } } },
}
