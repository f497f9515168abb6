-- expect: 65 option_pathwise_continuous.lua:4: payoffs[1]: greeks.method = "pathwise": a continuous barrier's probability
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 90, monitoring = "continuous" } },
  greeks = { delta = true, method = "pathwise" },
}
