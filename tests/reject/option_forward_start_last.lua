-- expect: 65 option_forward_start_last.lua:4: payoffs[1]: start: expected a step before the last one, 12, got 12
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.forward_start { start = 12 } },
}
