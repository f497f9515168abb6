-- expect: 65 option_swap_strike.lua:4: payoffs[1].strike: expected a number of at least 0, got -20
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.variance_swap { strike = -20 } },
}
