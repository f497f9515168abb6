-- expect: 65 option_exposure_hull_white.lua:6: exposure: not built for hull_white: expected a rate that is known at a date
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 } },
}
