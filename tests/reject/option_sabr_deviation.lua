-- expect: 65 option_sabr_deviation.lua:3: assets[1].sabr: steps = 2 are too long: alpha F^(beta - 1) sqrt(dt) is 0.707, expected at most 0.5: steps = 4 or more
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 10, beta = 0.5, rho = -0.3, nu = 0.1 } } },
  maturity = 1, steps = 2, payoffs = { sim.european { strike = 100 } }, sampling = { paths = 2^10 },
}
