-- expect: 65 option_maturity_zero.lua:3: maturity: expected
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 0,
  payoffs = { sim.european { strike = 100 } },
}
