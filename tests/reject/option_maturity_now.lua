-- expect: 65 option_maturity_now.lua:4: payoffs[1]: maturity: expected a time later than 2e-09, got 1e-12
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100, maturity = 1e-12 } },
}
