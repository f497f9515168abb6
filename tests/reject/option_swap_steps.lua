-- expect: 65 option_swap_steps.lua: steps: missing: payoffs[1], variance_swap, depends on the prices at the steps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.variance_swap { strike = 20 } },
}
