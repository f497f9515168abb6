-- expect: 65 option_american_asset.lua:4: payoffs[1]: asset: expected none beside on or exercise, which see all assets, got 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, on = "worst_of", asset = 2 } },
}
