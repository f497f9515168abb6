-- expect: 65 option_start_negative.lua:4: payoffs[1].start_time: expected
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.forward_start { start_time = -1 } },
}
