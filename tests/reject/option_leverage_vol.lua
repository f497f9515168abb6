-- expect: 65 option_leverage_vol.lua:3: assets[1]: leverage: expected heston and one of local_vol and vol_grid
return sim.option {
  assets = { { spot = 100, vol = 0.2, local_vol = function(S, t) return 0.2 end, leverage = {} } },
  payoffs = { sim.european { strike = 100 } }, steps = 8,
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
