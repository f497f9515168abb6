-- expect: 65 option_ladder_heston.lua:5: ladder.vol: -0.15: the volatility of assets[1] would be below 0
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = 0.01, sigma = 0.2, rho = 0 } } }, maturity = 1, steps = 12,
  payoffs = { sim.european { strike = 100 } },
  ladder = { vol = { -0.15 } },
}
