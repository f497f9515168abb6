-- expect: 65 option_steps_local.lua: steps: missing: assets[1].local_vol moves in steps
return sim.option {
  assets = { { spot = 100, local_vol = function(S) return 2 / sim.sqrt(S) end } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
