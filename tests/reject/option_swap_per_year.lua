-- expect: 65 option_swap_per_year.lua:4: payoffs[1].per_year: expected
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.variance_swap { strike = 20, per_year = 0 } },
}
