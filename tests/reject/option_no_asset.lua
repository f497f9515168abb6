-- expect: 65 option_no_asset.lua:4: payoffs[1]: expected one of 1 assets, got number 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100, asset = 2 } },
}
