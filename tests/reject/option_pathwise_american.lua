-- expect: 65 option_pathwise_american.lua:4: payoffs[1]: greeks.method = "pathwise": an early exercise jumps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.american { type = "put", strike = 100 } },
  greeks = { delta = true, method = "pathwise" },
}
