-- expect: 65 option_curve_point.lua:3: sim.curve: point 2: expected {t, value}, two finite numbers
return sim.option {
  assets = { { spot = 100, vol = sim.curve { { 0, 0.2 }, { 0.5 } } } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
