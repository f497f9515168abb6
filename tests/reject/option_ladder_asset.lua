-- expect: 65 option_ladder_asset.lua:5: ladder.asset: expected one of 1 assets, got number 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { spot = { 0.1 }, asset = 2 },
}
