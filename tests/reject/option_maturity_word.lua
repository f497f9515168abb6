-- expect: 65 option_maturity_word.lua:4: payoffs[1].maturity: unknown unit
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100, maturity = "1y" } },
}
