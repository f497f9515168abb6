-- expect: 65 option_dates_european.lua:4: payoffs[1].dates: unknown key
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100, dates = { 0.5 } } },
}
