-- One smile, two models: calls under Heston's variance with a leverage function cost what the local volatility makes of
-- them, a steep smile, with any mixing. A call that is knocked out above 125 costs more the more the volatility moves by
-- itself: try mixing = 0.05 (Guyon and Henry-Labordere 2012).
local mixing = sim.param("mixing", 1.0, "share of the volatility of the variance: above 0, at most 1")
local skew   = sim.param("skew", 10.0, "the local volatility is 0.1 + skew/S")
local steps  = sim.param("steps", 50, "steps until maturity")
local paths  = sim.param("paths", 2^16, "paths")

local payoffs = {}
for i, strike in ipairs { 70, 80, 90, 100, 110, 120, 130 } do
  payoffs[i] = sim.european { strike = strike }
end
payoffs[8] = sim.barrier { name = "up_and_out", strike = 100, level = 125, direction = "up", knock = "out",
                           monitoring = "continuous" }

return sim.option {
  title    = "Local-stochastic volatility",
  assets   = { { spot = 100, heston = { v = 0.04, kappa = 1.5, theta = 0.05, sigma = 0.6, rho = -0.7 },
                 local_vol = function(S, t) return 0.1 + skew / S end,
                 leverage = { mixing = mixing, particles = 2^16 } } },
  maturity = 1,
  steps    = steps,
  payoffs  = payoffs,
  sampling = { paths = paths, antithetic = true },
  output   = { tables = "every 1 steps" },
}
