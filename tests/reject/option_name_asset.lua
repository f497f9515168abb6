-- expect: 65 option_name_asset.lua:4: payoffs[2].name: expected another name: with that of payoffs[1] it is the name of a Greek by an asset or a node
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.3 } }, maturity = 1, steps = 12,
  payoffs = { sim.european { strike = 100, name = "a" }, sim.european { strike = 90, name = "a_2" } },
}
