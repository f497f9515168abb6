-- expect: 65 option_rough_control.lua:3: assets[1]: sampling.control: expected "underlying"
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, eta = 1.9, hurst = 0.1, rho = -0.7 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } }, sampling = { control = "black_scholes" },
}
