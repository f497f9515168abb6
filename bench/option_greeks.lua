-- Options with no Greeks, the first ones, gammas too, all, or vega by ten nodes of each volatility: what Greeks cost beside the price (bench/option_greeks.py).
local work, n = sim.param("work", "asian"), sim.param("n", 5, "assets")
local want, model = sim.param("greeks", "none", "none, first, gamma, second or nodes"), sim.param("model", "vol")
local method = sim.param("method", "pathwise")
local assets, correlation = {}, {}
for i = 1, n do
  assets[i] = { spot = 100 }
  if model == "heston" then
    assets[i].heston = { v = 0.04, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.5 }
  else
    assets[i].vol = 0.2 + 0.02 * i
    if want == "nodes" then
      local points = {}
      for k = 1, 10 do points[k] = { k / 10, 0.2 + 0.02 * i } end
      assets[i].vol = sim.curve(points)
    end
  end
  correlation[i] = {}
  for j = 1, n do correlation[i][j] = i == j and 1 or 0.3 end
end
local scenario = {
  assets = assets, correlation = n > 1 and correlation or nil, rate = 0.03, maturity = 1, steps = work == "asian" and 50 or 1,
  precision = sim.param("precision", "mixed"), sampling = { paths = sim.param("paths", 2^18) },
}
if work == "asian" then -- on the mean of all assets' means
  scenario.payoff = function(path)
    local sum = 0
    for i = 1, n do sum = sum + path.mean[i] end
    return sim.max(sum / n - 100, 0)
  end
else
  scenario.payoffs = { n > 1 and sim.basket { strike = 100 } or sim.european { strike = 100 } }
end
if want == "nodes" then
  scenario.greeks = { method = "pathwise", vega_bucket = true }
elseif want ~= "none" then
  local second = want == "second" or nil
  scenario.greeks = {
    method = method, delta = true, vega = true, rho = true, theta = true, gamma = want ~= "first",
    cross_gamma = second and n > 1, vanna = second, volga = second, charm = second,
  }
end
return sim.option(scenario)
