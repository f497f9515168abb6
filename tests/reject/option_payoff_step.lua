-- expect: 65 option_payoff_step.lua:4: payoff: unknown input 'path.fixing[1][300]', expected a step from 1 to 4
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoff = function(path) return path.fixing[1][300] end,
}
