-- expect: 65 option_steps_double_barrier.lua: steps: missing: payoffs[1], double_barrier, depends on the prices at the steps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.double_barrier { strike = 100, low = 90, high = 120 } },
}
