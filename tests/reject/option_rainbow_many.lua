-- expect: 65 option_rainbow_many.lua:6: payoffs[1]: a rainbow has at most 16 prices, got 17: expected a function
local assets, weights = {}, {}
for i = 1, 17 do assets[i], weights[i] = { spot = 100, vol = 0.2 }, i end
return sim.option {
  assets = assets, maturity = 1,
  payoffs = { sim.rainbow { strike = 100, weights = weights } },
}
