-- expect: 65 option_maturity_steps.lua:4: payoffs[1]: maturity: prices are observed at the steps of 0.25, and 0.6 is not the end of one: expected dates
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.asian { strike = 100, maturity = 0.6 } },
}
