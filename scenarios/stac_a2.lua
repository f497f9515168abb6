-- The option of the STAC-A2 benchmark, as far as its definition is public: price and all Greeks of an American call on
-- the best of several correlated shares under Heston's model, with Andersen's quadratic-exponential steps and the rule
-- of exercise of Longstaff and Schwartz. Here by the highest price of each share so far: a lookback.
--
-- Public: J. Demouth, "American Option Pricing with Monte Carlo Simulation in CUDA C++", NVIDIA 2014 (an American
-- option on a basket, its Greeks, Longstaff and Schwartz); IBM Research, "STAC-A2 Benchmark on POWER8", 2014 (several
-- kinds of Greeks of an exotic option under American exercise). Not public: the specification, for STAC's members.
-- So market, strike, correlation, dates of exercise, fitted functions and the form of the lookback are choices of this
-- file; tests/option/stac_a2.py computes the calls without early exercise in another way.
-- Sizes: by default some seconds on two cores. Larger: --set assets=5 --set steps=252 --set dates=252 --set paths=25000
-- --set fit_paths=25000. Cross gammas of ten shares cost 200 times the price's paths (sim check tells the time): with
-- --set assets=10 --set steps=1260 --set dates=252 --set paths=100000 take --set all=0 for deltas alone.
local count = sim.param("assets", 3, "shares")
local steps = sim.param("steps", 60, "time steps, a multiple of dates")
local dates = sim.param("dates", 12, "dates of exercise")
local all   = sim.param("all", 1, "all Greeks; 0: deltas alone")
local paths = sim.param("paths", 2^13, "paths of the price")
local fit_paths = sim.param("fit_paths", 2^13, "paths that fit each rule of exercise")

local assets, correlation = {}, {}
for i = 1, count do
  assets[i] = { spot = 100, dividend = 0.02,
                heston = { v = 0.04 + 0.005 * (i - 1), kappa = 1.5, theta = 0.05, sigma = 0.4, rho = -0.6 } }
  correlation[i] = {}
  for j = 1, count do correlation[i][j] = i == j and 1 or 0.4 end
end

local function best(prices)
  local out = prices[1]
  for i = 2, count do out = sim.max(out, prices[i]) end
  return out
end

return sim.option {
  title    = "Greeks of a lookback on the best of several shares",
  assets   = assets,
  correlation = correlation,
  rate     = 0.05,
  maturity = 1,
  steps    = steps,
  payoff   = function(path) return sim.max(best(path.max) - 105, 0) end,   -- the same without early exercise
  payoffs  = {
    sim.american { name = "lookback", every = steps // dates, fit_paths = fit_paths,
                   exercise = function(path) return best(path.max) - 105 end },
    sim.american { name = "best_of", every = steps // dates, fit_paths = fit_paths, strike = 105, on = "best_of" },
  },
  greeks   = all == 0 and { delta = true }
             or { delta = true, gamma = true, cross_gamma = true, vega = true, rho = true, theta = true },
  sampling = { paths = paths },
}
