-- expect: 65 option_hull_white_heston.lua:3: assets[1]: hull_white.correlation: expected 0 with this asset
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = 0.04, sigma = 0.3, rho = -0.5 } } },
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.european { strike = 100 } }, steps = 8,
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
