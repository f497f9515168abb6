-- expect: 65 option_sabr_beta.lua:3: assets[1].sabr: beta: expected 0, a number from 0.05 to 0.9, or 1, got 0.95
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 0.95, rho = 0, nu = 0.4 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } }, sampling = { paths = 2^10 },
}
