-- expect: 65 payoff: greeks.method = "pathwise": a function with sim.where, floor, ceil, sign or % may jump, which a path's slope misses (sim.max and sim.min do not): expected "auto" or "bump"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return sim.where(sim.gt(path.last[1], 100), 1, 0) end,
  greeks = { delta = true, method = "pathwise" },
}
