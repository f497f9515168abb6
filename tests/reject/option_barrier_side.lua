-- expect: 65 option_barrier_side.lua:4: payoffs[1]: the barrier is reached already: expected a level below the spot 100, or direction = "up", got 110
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.barrier { strike = 100, level = 110 } },
}
