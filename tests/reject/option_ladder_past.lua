-- expect: 65 option_ladder_past.lua:5: ladder.time: expected shifts of at least 0, got -0.1
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { time = { -0.1 } },
}
