-- expect: 65 option_ladder_order.lua:5: ladder.spot: expected ascending shifts, got 0 after 0.1
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { spot = { 0.1, 0 } },
}
