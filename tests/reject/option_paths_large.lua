-- expect: 65 option_paths_large.lua:5: paths: expected at most 4 GiB of numbers, got 7.5 GiB: fewer paths, or every = 2
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  sampling = { paths = 2^24 }, steps = 59, paths = { count = 2^24 },
}
