-- expect: 65 option_paths_many.lua:5: paths.count: expected at most sampling.paths = 4096, got 5000
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  sampling = { paths = 2^12 }, paths = { count = 5000 },
}
