-- expect: 65 option_curve_order.lua:3: sim.curve: point 2: expected a time after that of point 1
return sim.option {
  assets = { { spot = 100, vol = sim.curve { { 1, 0.2 }, { 0.5, 0.3 } } } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
