-- expect: 65 correlation: expected 2 rows
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.2 } }, maturity = 1,
  correlation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
  payoffs = { sim.european { strike = 100 } },
}
