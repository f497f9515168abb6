-- expect: 65 option_correlation_one_row.lua:4: correlation: expected 2 rows
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.2 } }, maturity = 1,
  correlation = { { 1, 0.5 } },
  payoffs = { sim.best_of { strike = 100 } },
}
