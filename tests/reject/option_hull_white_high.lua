-- expect: 65 option_hull_white_high.lua:5: payoff: expected path.max and path.min in place of high and low with hull_white
return sim.option {
  assets = { { spot = 100, vol = 0.2 } },
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoff = function(path) return path.high[1] end,
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
