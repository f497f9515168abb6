-- expect: 65 option_double_barrier_spot.lua:4: payoffs[1]: expected low < spot < high, got low = 105, spot = 100, high = 120
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.double_barrier { strike = 100, low = 105, high = 120 } },
}
