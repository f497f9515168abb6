-- expect: 65 option_vol_correlated.lua:7: correlation: the volatilities of assets 1 and 2 change in different ways within a step, which takes 100 %
return sim.option {
  assets = {
    { spot = 100, vol = sim.curve { { 0, 0.4 }, { 0.5, 0 }, between = "flat" } },
    { spot = 100, vol = sim.curve { { 0, 0 }, { 0.5, 0.4 }, between = "flat" } },
  },
  correlation = { { 1, 0.5 }, { 0.5, 1 } }, maturity = 1,
  payoffs = { sim.spread { strike = 0 } },
}
