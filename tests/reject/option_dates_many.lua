-- expect: 65 option_dates_many.lua:3: steps: expected at most 100000 together with those that end at dates
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 100000,
  payoffs = { sim.asian { strike = 100, dates = { 0.333333, 0.5 } } },
}
