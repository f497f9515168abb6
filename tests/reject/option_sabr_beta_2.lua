-- expect: 65 option_sabr_beta_2.lua:3: assets[1].sabr.beta:
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 2, rho = 0, nu = 0.4 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } }, sampling = { paths = 2^10 },
}
