-- expect: 65 option_swap_theta.lua:4: payoffs[1]: greeks.theta: where the run has dates
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.variance_swap { strike = 20 }, sim.european { strike = 100, maturity = 0.5 } },
  greeks = { theta = true },
}
