-- expect: 65 option_hull_white_dividends.lua:3: assets[1]: expected no cash dividends with hull_white
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { {0.5, 1} } } },
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.european { strike = 100 } },
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
