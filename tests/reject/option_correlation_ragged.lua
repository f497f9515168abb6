-- expect: 65 option_correlation_ragged.lua:4: correlation[2]: expected a list of 2 numbers
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.2 } }, maturity = 1,
  correlation = { { 1, 0 }, { 0 } },
  payoffs = { sim.european { strike = 100 } },
}
