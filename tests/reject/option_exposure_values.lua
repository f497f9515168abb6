-- expect: 65 option_exposure_values.lua:5: exposure.values: expected at most exposure.paths = 2048, got 4096
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 }, paths = 2048, values = 4096 },
}
