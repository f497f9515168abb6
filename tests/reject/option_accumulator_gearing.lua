-- expect: 65 option_accumulator_gearing.lua:4: payoffs[1].gearing
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4, rate = 0.02,
  payoffs = { sim.accumulator { strike = 90, gearing = -1 } },
}
