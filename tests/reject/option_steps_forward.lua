-- expect: 65 option_steps_forward.lua: steps: missing: payoffs[1], forward_start, has its dates at steps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.forward_start { start = 1 } },
}
