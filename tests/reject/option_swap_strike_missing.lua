-- expect: 65 option_swap_strike_missing.lua:4: payoffs[1].strike: missing
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.volatility_swap { } },
}
