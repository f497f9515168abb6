-- expect: 65 option_sabr_noise.lua:3: assets[1].sabr: steps = 2 are too long: nu^2 dt is 0.5, expected at most 0.25: steps = 4 or more
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = -0.3, nu = 1 } } },
  maturity = 1, steps = 2, payoffs = { sim.european { strike = 100 } }, sampling = { paths = 2^10 },
}
