-- Options on one asset at 100, volatility 20 %, rate 5 %, over a year.
--   sim bench bench/option.lua --set work=strikes
--   sim run bench/option.lua --set work=accuracy    says how long it took
local work   = sim.param("work", "asian", "asian, antithetic, strikes, greeks, european, accuracy, heston, sabr or rates")
local few    = work == "european"
local payoff = (few or work == "heston" or work == "sabr") and sim.european or sim.asian
local payoffs, greeks = { payoff { strike = 100 } }, nil
local asset  = { spot = 100, vol = 0.2 }
if work == "strikes" then
  for k = 1, 64 do payoffs[k] = payoff { strike = 67 + k } end -- on the same paths
elseif work == "greeks" then
  greeks = { delta = true, vega = true, rho = true }
elseif work == "heston" then
  asset = { spot = 100, heston = { v = 0.09, kappa = 2, theta = 0.09, sigma = 1, rho = -0.3 } }
elseif work == "sabr" then
  asset = { spot = 100, sabr = { alpha = 3, beta = 0.5, rho = -0.3, nu = 0.5 } }
end
return sim.option {
  precision = "mixed",
  assets    = { asset },
  rate      = 0.05,
  hull_white = work == "rates" and { reversion = 0.1, sigma = 0.01 } or nil,
  maturity  = 1,
  steps     = few and 1 or 252,
  payoffs   = payoffs,
  greeks    = greeks,
  sampling  = { paths = 2^40, antithetic = work == "antithetic", control = work == "accuracy" and "geometric" or nil,
                standard_error = work == "accuracy" and 1e-4 or nil },
  output    = { tables = "never", checkpoint = "never" },
}
