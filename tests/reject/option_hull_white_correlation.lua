-- expect: 65 option_hull_white_correlation.lua:5: hull_white.correlation: contradicts the correlation of the assets
-- Also where one step is so long that its normals are hardly correlated with those of the rate.
return sim.option {
  assets = { { spot = 100, vol = 0.2 }, { spot = 90, vol = 0.3 } },
  hull_white = { reversion = 2, sigma = 0.05, correlation = { 0.95, 0.95 } },
  payoffs = { sim.european { strike = 100 } },
  maturity = 5, rate = 0.03, sampling = { paths = 2^10 },
}
