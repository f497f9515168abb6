-- The smile of a SABR model: calls on a forward rate of 3 % at seven strikes, whose implied volatilities fall with the
-- strike by beta and rho and rise at both ends by nu (Hagan, Kumar, Lesniewski and Woodward 2002).
local forward = sim.param("forward", 3, "the forward, in per cent")
local beta    = sim.param("beta", 0.5, "power of the forward: 0, from 0.05 to 0.9, or 1")
local rho     = sim.param("rho", -0.3, "correlation of the forward and its volatility")
local nu      = sim.param("nu", 0.5, "volatility of the volatility")
local paths   = sim.param("paths", 2^16, "paths")

local payoffs = {}
for i, share in ipairs { 0.5, 0.625, 0.75, 1, 1.25, 1.5, 2 } do
  payoffs[i] = sim.european { strike = forward * share }
end

return sim.option {
  title    = "The smile of a SABR model",
  assets   = { { spot = forward, sabr = { alpha = 0.3 * forward ^ (1 - beta), beta = beta, rho = rho, nu = nu } } },
  maturity = 2,
  steps    = 24,
  payoffs  = payoffs,
  sampling = { paths = paths, antithetic = true },
  output   = { tables = "every 1 steps" },
}
