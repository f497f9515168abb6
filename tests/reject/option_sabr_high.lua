-- expect: 65 option_sabr_high.lua:4: payoff: expected path.max[1] in place of high[1], because this asset has sabr
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = -0.3, nu = 0.4 } } },
  maturity = 1, steps = 12, payoff = function(path) return sim.max(path.high[1] - 100, 0) end, sampling = { paths = 2^10 },
}
