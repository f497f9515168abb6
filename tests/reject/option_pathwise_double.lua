-- expect: 65 option_pathwise_double.lua:4: payoffs[1]: greeks.method = "pathwise": a double barrier jumps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.double_barrier { strike = 100, low = 90, high = 120 } },
  greeks = { delta = true, method = "pathwise" },
}
