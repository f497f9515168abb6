-- expect: 65 option_cash_pathwise.lua:4: payoffs[1]: greeks.method = "pathwise": with cash dividends prices do not grow in proportion to the spot
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 2 } } } }, maturity = 1, greeks = { delta = true, method = "pathwise" },
  payoffs = { sim.european { strike = 100 } },
}
