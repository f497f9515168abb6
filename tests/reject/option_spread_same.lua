-- expect: 65 option_spread_same.lua:5: payoffs[1]: asset and second: expected two assets, got number 2 twice
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.3 } },
  maturity = 1,
  payoffs = { sim.spread { strike = 0, asset = 2 } },
}
