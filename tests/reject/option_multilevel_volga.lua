-- expect: 65 option_multilevel_volga.lua:5: sampling.multilevel: expected no greeks.volga: its second differences tell no variance
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.7 } } }, maturity = 1, steps = 4,
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, standard_error = 0.01 },
  greeks = { volga = true },
}
