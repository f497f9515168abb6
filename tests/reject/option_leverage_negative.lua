-- expect: 80 assets[1].leverage: the local volatility at S = 
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = 0.05, sigma = 0.3, rho = -0.5 }, local_vol = function(S, t) return 0.02*(100 - S) + 0.1 end, leverage = {} } },
  payoffs = { sim.european { strike = 100 } }, steps = 8,
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
