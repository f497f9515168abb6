-- expect: 65 option_start_now.lua:4: payoffs[1]: start_time: expected a time before the maturity 1, not so close to it or to 0, got 1e-12
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.forward_start { start_time = 1e-12 } },
}
