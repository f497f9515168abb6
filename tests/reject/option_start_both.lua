-- expect: 65 option_start_both.lua:4: payoffs[1]: expected one of start, a step, and start_time, got both
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.forward_start { start = 1, start_time = 0.3 } },
}
