-- expect: 65 option_hull_white_curve.lua:4: hull_white.correlation: assets[1].vol changes by
return sim.option {
  assets = { { spot = 100, vol = function(t) return 0.1 + 0.3 * t end } },
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.european { strike = 100 } },
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
