-- expect: 65 option_weights.lua:4: payoffs[1]: expected 1 weights, got 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.basket { strike = 100, weights = { 1, 2 } } },
}
