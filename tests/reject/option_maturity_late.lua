-- expect: 65 option_maturity_late.lua:4: payoffs[1]: maturity: expected at most that of the run, 1, got 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100, maturity = 2 } },
}
