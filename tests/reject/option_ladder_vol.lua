-- expect: 65 option_ladder_vol.lua:5: ladder.vol: -0.25: the volatility of assets[1] would be below 0
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { vol = { -0.25, 0 } },
}
