-- A call on the mean of five correlated shares by Sobol's points: 32 scrambles of them, a Brownian bridge each, and a
-- standard error some forty times below that of as many random paths.
local correlation = {}
for i = 1, 5 do
  correlation[i] = {}
  for j = 1, 5 do correlation[i][j] = i == j and 1 or 0.4 end
end
return sim.option {
  title       = "A basket by quasi-random points",
  precision   = "mixed",
  assets      = {
    { spot = 100, vol = 0.2 },
    { spot = 95, vol = 0.25, dividend = 0.02 },
    { spot = 105, vol = 0.3 },
    { spot = 90, vol = 0.35 },
    { spot = 110, vol = 0.15, dividend = 0.01 },
  },
  correlation = correlation,
  rate        = 0.03,
  maturity    = 1,
  steps       = 12,
  payoffs     = {
    sim.basket { strike = 100 },
    sim.best_of { strike = 120 },
  },
  greeks      = { delta = true },
  sampling    = { sequence = "sobol", scrambles = 32, paths = 2^20 },
  output      = { tables = "every 1 steps" },
}
