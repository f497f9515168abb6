-- expect: 65 option_local_negative.lua:3: assets[1].local_vol: expected a number >= 0, at most 1e+18, got -0.2 at S = 100, t = 0
return sim.option {
  assets = { { spot = 100, local_vol = function(S) return -0.002 * S end } }, maturity = 1, steps = 12,
  payoffs = { sim.european { strike = 100 } },
}
