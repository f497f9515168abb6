-- expect: 65 option_american_inner_alone.lua:4: payoffs[1]: inner_paths: are of an upper bound: expected upper_paths beside them
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = 0.03, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, type = "put", inner_paths = 64 } },
  sampling = { paths = 2^10 },
}
