-- expect: 65 option_barrier_hit.lua:4: payoffs[1]: the barrier is reached already
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.barrier { strike = 100, level = 105, direction = "down" } },
}
