-- expect: 65 option_sabr_dividends.lua:3: assets[1].sabr: expected no cash dividends
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = -0.3, nu = 0.4 }, dividends = { {0.5, 2} } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } }, sampling = { paths = 2^10 },
}
