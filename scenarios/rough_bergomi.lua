-- A smile of rough volatility: the variance is an exponential of a fractional Brownian motion (Bayer, Friz and Gatheral
-- 2016), with a forward variance that rises in time. Beside a call, what its realised variance is worth.
local strike   = sim.param("strike", 100, "of the call")
local maturity = sim.param("maturity", 0.5, "in years")
local paths    = sim.param("paths", 2^16, "paths")

return sim.option {
  title     = "A smile of rough volatility",
  precision = "mixed",
  assets    = { {
    spot = 100,
    rough_bergomi = { xi = sim.curve { {0, 0.04}, {1, 0.055} }, eta = 1.9, hurst = 0.1, rho = -0.8 },
  } },
  maturity  = maturity,
  steps     = 64,
  payoffs   = {
    sim.european { strike = strike, name = "call" },
    sim.variance_swap { strike = 0, name = "variance" },
  },
  greeks    = { delta = true },
  sampling  = { paths = paths, antithetic = true },
  output    = { tables = "every 1 steps" },
}
