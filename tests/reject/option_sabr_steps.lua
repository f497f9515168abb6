-- expect: 65 option_sabr_steps.lua: steps: missing: assets[1].sabr moves in steps
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = -0.3, nu = 0.4 } } },
  maturity = 1, payoffs = { sim.european { strike = 100 } }, sampling = { paths = 2^10 },
}
