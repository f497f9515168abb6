-- expect: 65 option_leverage_jumps.lua:3: assets[1]: leverage: expected no jumps
return sim.option {
  assets = { { spot = 100, heston = { v = 0.04, kappa = 1, theta = 0.04, sigma = 0.3, rho = -0.5 }, local_vol = function(S, t) return 0.2 end,
  jumps = { rate = 1, deviation = 0.1 }, leverage = {} } },
  payoffs = { sim.european { strike = 100 } }, steps = 8,
  maturity = 1, rate = 0.03, sampling = { paths = 2^10 },
}
