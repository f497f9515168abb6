-- expect: 65 option_curve_negative.lua:3: assets[1].vol: expected a number >= 0, got -0.0
return sim.option {
  assets = { { spot = 100, vol = sim.curve { { 0, 0.2 }, { 0.5, 0.2 }, { 1, -0.2 } } } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
