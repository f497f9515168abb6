-- expect: 65 option_rainbow_zero.lua:4: payoffs[1]: weights: expected one other than 0
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.3 } }, correlation = { { 1, 0.5 }, { 0.5, 1 } }, maturity = 1,
  payoffs = { sim.rainbow { strike = 100, weights = { 0, 0 } } },
}
