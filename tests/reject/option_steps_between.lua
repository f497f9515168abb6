-- expect: 65 option_steps_between.lua: steps: missing: payoffs[1], barrier, depends on prices between the steps, where bridges are exact
return sim.option {
  assets = { { spot = 100, vol = sim.curve { { 0, 0.2 }, { 1, 0.3 } } } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 85, monitoring = "continuous" } },
}
