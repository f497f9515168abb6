-- expect: 65 option_cash_late.lua:3: assets[1].dividends: expected ascending times above 0, at most the maturity 1, got 1.5
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 1 }, { 1.5, 1 } } } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
}
