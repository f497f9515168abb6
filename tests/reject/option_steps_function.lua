-- expect: 65 option_steps_function.lua: steps: missing: payoff depends on the prices at the steps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return sim.max(path.fixing[1][3] - 100, 0) end,
}
