-- expect: 65 option_currency_hull_white.lua:3: assets[1].currency
return sim.option {
  assets = { { spot = 100, vol = 0.2, currency = 2 }, { spot = 1.1, vol = 0.1 } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100, exchange = "quanto" } }, hull_white = { reversion = 0.1, sigma = 0.01 },
}
