-- expect: 65 option_currency_dividends.lua:3: assets[1].currency
return sim.option {
  assets = { { spot = 100, vol = 0.2, currency = 2 }, { spot = 1.1, vol = 0.1, dividends = { { 0.5, 0.1 } } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100, exchange = "quanto" } },
}
