-- expect: 65 option_exposure_both.lua:5: exposure: expected either dates or every, got both
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 }, every = 2 },
}
