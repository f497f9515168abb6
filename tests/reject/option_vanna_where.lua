-- expect: 65 option_vanna_where.lua:6: greeks.vanna: a function with sim.where, floor, ceil, sign or % may jump, and differences of it tell no error: expected one without (sim.max and sim.min do not jump), or a named payoff
return sim.option {
  assets = { { spot = 100, vol = 0.2 } },
  maturity = 1,
  payoff = function(path) return sim.where(sim.gt(path.last[1], 100), 1, 0) end,
  greeks = { vanna = true },
}
