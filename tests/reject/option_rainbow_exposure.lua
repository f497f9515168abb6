-- expect: 65 a rainbow, whose prices are ordered
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.3 } }, correlation = { { 1, 0.5 }, { 0.5, 1 } }, maturity = 1,
  payoffs = { sim.rainbow { strike = 100, weights = { 1, 0 } } }, exposure = { dates = { 0.5 } },
}
