-- expect: 65 option_heston_control.lua:3: assets[1]: sampling.control: expected "underlying"
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = 0.04, sigma = 0.5, rho = -0.5 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } }, sampling = { control = "geometric" },
}
