-- expect: 65 option_american_input.lua:4: payoffs[1]: exercise: unknown input 'mean_1', expected path.last[i], the price of asset i (1 to 1) at the date
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { exercise = function(path) return path.mean[1] - path.last[1] end } },
}
