-- expect: 65 option_currency_chain.lua:4: assets[1].currency
-- lines: 2
return sim.option {
  assets = { { spot = 100, vol = 0.2, currency = 2 }, { spot = 1.1, vol = 0.1, currency = 1 } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100, exchange = "quanto" } },
}
