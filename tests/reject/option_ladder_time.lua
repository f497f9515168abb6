-- expect: 65 option_ladder_time.lua:5: ladder.time: expected times before the first date or maturity of the scenario, 1, got 1
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { time = { 0, 1 } },
}
