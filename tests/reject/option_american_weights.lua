-- expect: 65 option_american_weights.lua:4: payoffs[1]: weights: expected 2, got 1
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, on = "basket", weights = { 1 } } },
}
