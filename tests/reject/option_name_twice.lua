-- expect: 65 option_name_twice.lua:4: payoffs[2].name: expected a name of its own, got that of payoffs[1]
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.european { strike = 100, name = "a" }, sim.european { strike = 90, name = "a" } },
}
