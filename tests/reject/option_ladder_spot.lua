-- expect: 65 option_ladder_spot.lua:5: ladder.spot: expected shifts above -1, got -1
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { spot = { -1, 0 } },
}
