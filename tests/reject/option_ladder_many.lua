-- expect: 65 option_ladder_many.lua:5: ladder.spot: expected at most 64 shifts, got 65
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { spot = (function() local t = {} for k = 1, 65 do t[k] = k / 100 end return t end)() },
}
