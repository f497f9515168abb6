-- expect: 65 option_start_late.lua:4: payoffs[1]: start_time: expected a time before the maturity 0.5, got 0.75
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.forward_start { start_time = 0.75, maturity = 0.5 } },
}
