-- expect: 65 option_dividends_row.lua:3: assets[1].dividends[1]: expected a list of 2 numbers, got 0.5
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { 0.5 } } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
}
