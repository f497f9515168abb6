-- expect: 65 option_american_weights_alone.lua:4: payoffs[1]: weights: are for on = "basket"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, weights = { 1 } } },
}
