-- expect: 65 option_correlation_mixed.lua:4: correlation: expected a matrix without negative eigenvalues, got one that contradicts itself in its first 3 rows
return sim.option { -- assets 1 and 2 are one, and 3 goes with one of them alone
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.2 }, { spot = 80, vol = 0.2 } }, maturity = 1,
  correlation = { { 1, 1, 0.5 }, { 1, 1, 0.4 }, { 0.5, 0.4, 1 } },
  payoffs = { sim.best_of { strike = 100 } },
}
