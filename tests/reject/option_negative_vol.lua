-- expect: 65 option_negative_vol.lua:3: assets[1].vol: expected a number >= 0, got -0.2
return sim.option {
  assets = { { spot = 100, vol = -0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
}
