-- expect: 65 option_sabr_rho.lua:3: assets[1].sabr: rho: expected at most 0 with beta = 1, got 0.3
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = 0.3, nu = 0.4 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } }, sampling = { paths = 2^10 },
}
