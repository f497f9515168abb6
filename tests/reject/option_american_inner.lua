-- expect: 65 option_american_inner.lua:4: payoffs[1].inner_paths
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, upper_paths = 100, inner_paths = 1 } },
}
