-- expect: 65 option_curve_between.lua:3: sim.curve: between: expected "linear" or "flat"
return sim.option {
  assets = { { spot = 100, vol = sim.curve { { 0, 0.2 }, { 0.5, 0.3 }, between = "spline" } } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
