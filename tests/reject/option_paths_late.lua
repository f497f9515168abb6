-- expect: 65 option_paths_late.lua:5: paths.dates: expected ascending times after 0, at most maturity = 1, got 1.5
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  paths = { count = 10, dates = { 0.5, 1.5 } },
}
