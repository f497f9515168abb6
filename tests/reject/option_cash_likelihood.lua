-- expect: 65 option_cash_likelihood.lua:3: assets[1]: greeks.method: expected "auto" or "bump" with cash dividends
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 2 } } } }, maturity = 1, greeks = { delta = true, method = "likelihood" },
  payoffs = { sim.european { strike = 100 } },
}
