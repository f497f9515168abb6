-- expect: 65 option_sabr_continuous.lua:4: payoffs[1]: expected monitoring = "steps" with sabr
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 0.2, beta = 1, rho = -0.3, nu = 0.4 } } },
  maturity = 1, steps = 12, payoffs = { sim.barrier { strike = 100, level = 80, monitoring = "continuous" } }, sampling = { paths = 2^10 },
}
