-- expect: 65 option_vol_wild.lua:3: assets[1].vol: its integrals over the steps are not found to 1e-10
return sim.option {
  assets = { { spot = 100, vol = function(t) return 0.2 + 0.1 * sim.sign(sim.sin(1 / (t + 1e-9))) end } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
