-- expect: 65 option_randomised_jump.lua:5: sampling.randomised: expected no payoff that jumps, whose fine levels have too little in common
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.digital { strike = 100 } },
  sampling = { multilevel = true, randomised = true, standard_error = 0.01 },
}
