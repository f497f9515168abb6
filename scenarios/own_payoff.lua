-- Payoffs of your own on two correlated assets, all on the same paths: functions of what a path has been.
local strike = sim.param("strike", 195, "of the basket of means")
local function pays(path)
  local basket = path.mean[1] + path.mean[2]                     -- means over the 52 weeks
  local call = sim.max(basket - strike, 0)
  local quiet = sim.where(sim.lt(path.max[1], 130), call, 0)     -- nothing if the first one was ever above 130
  local cliquet = 0                                              -- the sum of the quarters' returns, each cut to +-5 %
  for quarter = 1, 4 do
    local before = quarter == 1 and 100 or path.fixing[1][13 * (quarter - 1)]
    cliquet = cliquet + sim.clamp(path.fixing[1][13 * quarter] / before - 1, -0.05, 0.05)
  end
  return call, quiet, 100 * sim.max(cliquet, 0)
end
return sim.option {
  title       = "Payoffs of your own: 1 basket call, 2 quiet call, 3 cliquet",
  precision   = "mixed",
  assets      = {
    { spot = 100, vol = function(t) return 0.25 - 0.1 * t end },
    { spot = 95, vol = 0.3, dividend = 0.01 },
  },
  correlation = { { 1, 0.5 }, { 0.5, 1 } },
  rate        = function(t) return 0.02 + 0.01 * t end,
  maturity    = 1,
  steps       = 52,
  payoff      = pays,
  sampling    = { paths = 2^19, antithetic = true, control = "underlying" },
  greeks      = { delta = true },
}
