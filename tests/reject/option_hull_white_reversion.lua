-- expect: 65 option_hull_white_reversion.lua:4: hull_white.reversion: expected
return sim.option {
  assets = { { spot = 100, vol = 0.2 } },
  hull_white = { reversion = -0.1, sigma = 0.01 },
  payoffs = { sim.european { strike = 100 } },
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
