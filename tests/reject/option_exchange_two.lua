-- expect: 65 option_exchange_two.lua:4: payoffs[1]
return sim.option {
  assets = { { spot = 100, vol = 0.2, currency = 2 }, { spot = 1.1, vol = 0.1 } }, maturity = 1, steps = 4,
  payoffs = { sim.spread { strike = 0, second = 2, exchange = "payment" } },
}
