-- expect: 65 option_american_bases.lua:6: payoffs[1]: basis: expected at most 64 functions, got 83 of 11 assets: expected "ordered", "payoff" or a lower degree
local assets = {}
for i = 1, 11 do assets[i] = { spot = 100, vol = 0.2 } end
return sim.option {
  assets = assets, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, on = "basket", basis = "assets" } },
}
