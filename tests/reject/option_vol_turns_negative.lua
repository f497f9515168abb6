-- expect: 65 option_vol_turns_negative.lua:3: assets[1].vol: expected a number >= 0, got -
return sim.option {
  assets = { { spot = 100, vol = function(t) return 0.2 - t end } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
}
