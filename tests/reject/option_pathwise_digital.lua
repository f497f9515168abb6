-- expect: 65 greeks.method: a digital jumps, which a path's slope misses: expected "auto" or "bump"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.digital { strike = 100 } },
  greeks = { delta = true, method = "pathwise" },
}
