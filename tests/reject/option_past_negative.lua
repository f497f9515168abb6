-- expect: 65 option_past_negative.lua:4: payoffs[1].past
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.asian { strike = 100, dates = { 1 }, past = { 100, -1 } } },
}
