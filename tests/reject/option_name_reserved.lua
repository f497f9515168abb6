-- expect: 65 option_name_reserved.lua:4: payoffs[1].name: expected a name that does not begin with payoff_
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.european { strike = 100, name = "payoff_7" } },
}
