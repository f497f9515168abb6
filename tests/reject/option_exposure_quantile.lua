-- expect: 65 option_exposure_quantile.lua:5: exposure.quantile: expected a number in (0, 1), got 95
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 }, quantile = 95 },
}
