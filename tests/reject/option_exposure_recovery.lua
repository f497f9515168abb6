-- expect: 65 option_exposure_recovery.lua:5: exposure.recovery: expected a number in [0, 1], got 40
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 }, hazard = 0.1, recovery = 40 },
}
