-- expect: 65 option_paths_both.lua:5: paths: expected either dates or every, got both
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  paths = { count = 10, dates = { 0.5 }, every = 1 },
}
