-- expect: 65 option_exposure_hazard.lua:5: exposure.hazard: expected a number >= 0
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 }, hazard = function(t) return 0.1 - t end },
}
