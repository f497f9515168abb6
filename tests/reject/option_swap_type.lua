-- expect: 65 option_swap_type.lua:4: payoffs[1].type: unknown key
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.variance_swap { strike = 20, type = "put" } },
}
