-- expect: 65 option_rainbow_weights.lua:5: payoffs[1]: weights: expected one for each of 2 prices, got 3
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.3, currency = 3 }, { spot = 1.1, vol = 0.1 } },
  correlation = { { 1, 0.5, 0 }, { 0.5, 1, 0 }, { 0, 0, 1 } }, maturity = 1,
  payoffs = { sim.rainbow { strike = 100, weights = { 0.5, 0.3, 0.2 }, exchange = "composite" } },
}
