-- expect: 65 option_pathwise_digital.lua:3: payoffs[1]: greeks.method = "pathwise": a digital jumps, which a path's slope misses: expected "auto" or "bump"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.digital { strike = 100 } },
  greeks = { delta = true, method = "pathwise" },
}
