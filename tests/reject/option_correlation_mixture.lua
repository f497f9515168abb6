-- expect: 65 option_correlation_mixture.lua:4: correlation: expected a positive definite matrix, got one where asset 2 is a mixture of those before it
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.2 } }, maturity = 1,
  correlation = { { 1, 1 }, { 1, 1 } },
  payoffs = { sim.best_of { strike = 100 } },
}
