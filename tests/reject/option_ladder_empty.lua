-- expect: 65 option_ladder_empty.lua:5: ladder: expected shifts of spot, vol or time, got none
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = {},
}
