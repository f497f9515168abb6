-- expect: 65 option_double_barrier_jumps.lua:4: payoffs[1]: expected monitoring = "steps": a Brownian bridge does not jump
return sim.option {
  assets = { { spot = 100, vol = 0.2, jumps = { rate = 1, deviation = 0.1 } } }, maturity = 1, steps = 12,
  payoffs = { sim.double_barrier { strike = 100, low = 90, high = 120, monitoring = "continuous" } },
}
