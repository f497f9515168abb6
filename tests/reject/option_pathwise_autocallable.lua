-- expect: 65 option_pathwise_autocallable.lua:4: payoffs[1]: greeks.method = "pathwise": an autocallable jumps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.autocallable { level = 100, coupon = 0.05, protection = 80 } },
  greeks = { delta = true, method = "pathwise" },
}
