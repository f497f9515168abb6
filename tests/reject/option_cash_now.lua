-- expect: 65 option_cash_now.lua:3: assets[1].dividends: expected ascending times above 0, at most the maturity 1, got 1e-12
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 1e-12, 5 } } } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
}
