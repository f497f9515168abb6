-- expect: 65 option_exposure_lookback.lua:4: payoffs[1]: exposure: not built for the extreme that a lookback has seen
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.lookback {} },
  exposure = { every = 2 },
}
