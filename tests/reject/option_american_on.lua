-- expect: 65 option_american_on.lua:4: payoffs[1].on
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, on = "max" } },
}
