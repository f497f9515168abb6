-- expect: 65 option_steps_asian.lua: steps: missing: payoffs[2], asian, depends on the prices at the steps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 }, sim.asian { strike = 100 } },
}
