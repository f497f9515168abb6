-- expect: 65 option_exposure_quantities.lua:5: exposure.quantities: expected 1 numbers, one of each payoff, got 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  exposure = { dates = { 0.5 }, quantities = { 1, 2 } },
}
