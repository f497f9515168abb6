-- expect: 65 option_dates_near.lua:4: payoffs[1]: dates: expected ascending times above 0, at most the maturity 1, got 1e-12, which counts as 0
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.asian { strike = 100, dates = { 1e-12, 1 } } },
}
