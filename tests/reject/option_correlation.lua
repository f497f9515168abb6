-- expect: 65 correlation: expected a matrix without negative eigenvalues
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.2 }, { spot = 90, vol = 0.2 } }, maturity = 1,
  correlation = { { 1, 0.9, -0.9 }, { 0.9, 1, 0.9 }, { -0.9, 0.9, 1 } },
  payoffs = { sim.european { strike = 100 } },
}
