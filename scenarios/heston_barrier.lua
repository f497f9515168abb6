-- A call that is lost when the price falls to 85, with a variance of its own that rises as the price falls (Heston): at
-- the ends of the weeks, and at all times. The variance reaches zero now and then (Feller's condition does not hold).
return sim.option {
  title     = "A barrier under stochastic volatility",
  precision = "mixed",
  assets    = { { spot = 100, heston = { v = 0.04, kappa = 1.5, theta = 0.06, sigma = 0.6, rho = -0.7 } } },
  rate      = 0.03,
  maturity  = 1,
  steps     = 52,
  payoffs   = {
    sim.barrier { strike = 100, level = 85 },
    sim.barrier { strike = 100, level = 85, monitoring = "continuous" },
    sim.european { strike = 100 },
  },
  greeks    = { delta = true, vega = true },
  sampling  = { paths = 2^20, antithetic = true },
  output    = { tables = "every 1 steps" },
}
