-- expect: 65 option_swap_cash.lua:4: payoffs[1]: expected an asset without cash dividends
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 2 } } } }, maturity = 1, steps = 12,
  payoffs = { sim.variance_swap { strike = 20 } },
}
