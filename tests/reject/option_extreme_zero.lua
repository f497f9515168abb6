-- expect: 65 option_extreme_zero.lua:4: payoffs[1].extreme: expected
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.lookback { dates = { 1 }, extreme = 0 } },
}
