-- expect: 65 option_dates_every.lua:4: payoffs[1]: every: is for dates at the steps
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.american { strike = 100, every = 2, dates = { 0.5, 1 } } },
}
