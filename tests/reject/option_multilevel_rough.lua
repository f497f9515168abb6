-- expect: 65 option_multilevel_rough.lua:5: sampling.multilevel: expected no rough_bergomi: paths of two numbers of steps have too little in common
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, eta = 1, hurst = 0.1, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, standard_error = 0.01 },
}
