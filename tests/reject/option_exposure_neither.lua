-- expect: 65 option_exposure_neither.lua:5: exposure: expected either dates or every, got neither
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  exposure = { quantile = 0.9 },
}
