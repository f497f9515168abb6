-- expect: 65 option_payoff_asset.lua:4: payoff: unknown input 'path.last[2]', expected an asset from 1 to 1
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return path.last[2] end,
}
