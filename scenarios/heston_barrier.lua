-- A call that is lost when the price falls to 85, with a variance of its own that rises as the price falls (Heston): at
-- the ends of the weeks (of a year), and at all times. The variance reaches zero now and then (Feller's condition does not hold).
local strike   = sim.param("strike", 100, "of all three")
local maturity = sim.param("maturity", 1.0, "in years")
local paths    = sim.param("paths", 2^20, "paths")

return sim.option {
  title     = "A barrier under stochastic volatility",
  precision = "mixed",
  assets    = { { spot = 100, heston = { v = 0.04, kappa = 1.5, theta = 0.06, sigma = 0.6, rho = -0.7 } } },
  rate      = 0.03,
  maturity  = maturity,
  steps     = 52,
  payoffs   = {
    sim.barrier { strike = strike, level = 85 },
    sim.barrier { strike = strike, level = 85, monitoring = "continuous" },
    sim.european { strike = strike },
  },
  greeks    = { delta = true, vega = true },
  sampling  = { paths = paths, antithetic = true },
  output    = { tables = "every 1 steps" },
}
