-- expect: 65 option_name_digit.lua:4: payoffs[1].name: expected at most 40 letters, digits and _, no digit first, got "2nd"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.european { strike = 100, name = "2nd" } },
}
