-- expect: 65 option_currency_own.lua:3: assets[1].currency
return sim.option {
  assets = { { spot = 100, vol = 0.2, currency = 1 } }, maturity = 1, steps = 4, rate = 0.02,
  payoffs = { sim.european { strike = 100, exchange = "quanto" } },
}
