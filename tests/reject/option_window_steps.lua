-- expect: 65 option_window_steps.lua:4: payoffs[1]: from, to: are for monitoring = "continuous": expected dates
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 80, from = 0.5, dates = { 0.6 } } },
}
