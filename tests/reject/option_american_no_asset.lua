-- expect: 65 option_american_no_asset.lua:4: payoffs[1]: asset: expected the number of an asset, from 1, got 0
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, asset = 0 } },
}
