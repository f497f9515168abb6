-- expect: 65 option_american_upper.lua:4: payoffs[1]: upper_paths: the paths from a date on begin at prices and volatilities alone: expected assets with vol, heston without leverage or sabr
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = 0.04, eta = 1.9, hurst = 0.1, rho = -0.5 } } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, type = "put", upper_paths = 100 } },
}
