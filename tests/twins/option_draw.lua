-- Random options: assets, payoffs and samplings.
local scenario, F, ask = require "scenario", require "formulas", require "ask"
local call, fn = scenario.call, scenario.fn
local M = {}

local function of_time(R, low, high, maturity)
  local kind = R.int(1, 6)
  local a, b = R.uniform(low, high), R.uniform(low, high)
  if kind <= 3 then return a end
  if kind == 4 then return fn("function(t) return %g + %g * t end", a, (b - a) / maturity) end
  if kind == 5 then return fn("function(t) return %g + %g * math.sin(%g * t) end", (a + b) / 2, (a - b) / 2, R.uniform(1, 8) / maturity) end
  local at = R.uniform(0.1, 0.9) * maturity
  if ask.knows("option", "curve") and R.chance(0.6) then
    local flat, back = R.chance(0.5), at + R.uniform(0.01, 0.5)
    local f = fn("sim.curve { {0, %g}, {%g, %g}, {%g, %g}" .. (flat and ', between = "flat" }' or " }"), a, at, b, back, a)
    f.breaks = { at, back }
    return f
  end
  local f = fn("function(t) return sim.where(sim.lt(t, %g), %g, %g) end", at, a, b)
  f.breaks = { at }
  return f
end

local function asset(R, maturity)
  local a = { spot = R.chance(0.4) and 100 or R.log(50, 200) }
  local kind = R.int(1, 11)
  if kind <= 6 then
    a.vol = of_time(R, 0.1, 0.5, maturity)
  elseif kind <= 8 then
    a.heston = { v = R.log(0.01, 0.2), kappa = R.log(0.5, 4), theta = R.log(0.01, 0.2), sigma = R.log(0.1, 1), rho = R.uniform(-0.9, 0.6) }
    if R.chance(0.4) then
      local h = a.heston
      h.kappa, h.theta = of_time(R, 0.5, 4, maturity), of_time(R, 0.01, 0.2, maturity)
      h.sigma, h.rho = of_time(R, 0.1, 1, maturity), of_time(R, -0.9, 0.6, maturity)
    end
  elseif kind == 11 and ask.knows("option", "rough_bergomi") then
    a.rough_bergomi = { xi = of_time(R, 0.01, 0.15, maturity), eta = R.uniform(0.5, 2), hurst = R.uniform(0.05, 0.5), rho = R.uniform(-1, 0.5) }
  elseif kind == 9 then
    a.local_vol = fn("function(S, t) return %g * math.sqrt(%g / sim.max(S, %g)) end", R.uniform(0.1, 0.4), a.spot, a.spot / 10)
    if R.chance(0.3) then a.local_vol = fn("function(S, t) return %g + 0 * S end", R.uniform(0.1, 0.4)) end
  elseif ask.knows("option", "sabr") and R.chance(0.5) then -- with steps that are short enough for its noise
    local beta = R.pick(0, 0.3, 0.5, 0.9, 1)
    a.sabr = { alpha = R.uniform(0.1, 0.4) * a.spot ^ (1 - beta), beta = beta, rho = beta == 1 and R.uniform(-0.9, 0) or R.uniform(-0.8, 0.5),
      nu = R.uniform(0.1, 0.6) / math.sqrt(maturity) }
  else
    a.vol_grid = { spots = { a.spot / 2, a.spot, a.spot * 2 }, times = { 0, maturity },
      vols = { R.uniform(0.2, 0.4), R.uniform(0.15, 0.3), R.uniform(0.15, 0.3), R.uniform(0.2, 0.4), R.uniform(0.15, 0.3), R.uniform(0.15, 0.3) } }
  end
  if (a.vol or a.heston or a.rough_bergomi or a.sabr) and R.chance(0.3) then
    a.jumps = { rate = R.log(0.2, 3), mean = R.uniform(-0.3, 0.2), deviation = R.uniform(0, 0.3) }
  end
  if R.chance(0.4) then a.dividend = of_time(R, 0, 0.08, maturity) end
  return a
end

local function strike(R, spot) return R.chance(0.3) and spot or spot * R.log(0.75, 1.35) end

-- Returns the x below which a normal number is with probability p.
local function quantile(p)
  local low, high = -10, 10
  for _ = 1, 80 do
    local middle = (low + high) / 2
    if F.N(middle) < p then low = middle else high = middle end
  end
  return (low + high) / 2
end

local function payoff(R, s)
  local keys = s.keys
  local i = R.int(1, #keys.assets)
  local a = keys.assets[i]
  local K, kind = strike(R, a.spot), R.chance(0.5) and "put" or nil
  local bridged = not a.jumps and not a.sabr and R.chance(0.5) and "continuous" or nil
  local which = R.int(1, ask.knows("option", "accumulator") and 16 or 15)
  if which <= 3 then return call("european", { strike = K, type = kind, asset = i }) end
  if which == 4 and R.chance(0.5) and type(a.vol) == "number" and type(keys.rate) == "number" and type(a.dividend or 0) == "number" then
    -- A strike at which every set of evenly spread points may count the same.
    local width = a.vol * math.sqrt(keys.maturity)
    K = a.spot * math.exp((keys.rate - (a.dividend or 0)) * keys.maturity - width ^ 2 / 2 + width * quantile(R.int(1, 7) / 8))
  end
  if which == 4 then return call("digital", { strike = K, type = kind, asset = i, cash = R.chance(0.5) and R.uniform(1, 50) or nil }) end
  if which == 5 then return call("asian", { strike = K, type = kind, asset = i, average = R.chance(0.5) and "geometric" or nil }) end
  if which <= 7 then
    local down = R.chance(0.5)
    return call("barrier", { strike = K, type = kind, asset = i, level = a.spot * (down and R.uniform(0.6, 0.97) or R.uniform(1.03, 1.6)),
      direction = down and "down" or "up", knock = R.pick("out", "in"), monitoring = bridged,
      rebate = R.chance(0.3) and R.uniform(1, 20) or nil })
  end
  if which == 8 then
    return call("lookback", { strike = R.chance(0.5) and K or nil, type = kind, asset = i, monitoring = bridged })
  end
  if which == 9 then
    local sum = 0
    for k = 1, #keys.assets do sum = sum + keys.assets[k].spot end
    local n = #keys.assets
    for _, of in ipairs(keys.assets) do if of.currency then n = #keys.assets - 1 end end -- the rate of exchange is the last
    if n > 1 and n < 4 and ask.knows("option", "rainbow") and R.chance(0.5) then -- option_exact.lua has up to three ranks
      local weights = {}
      for k = 1, n do weights[k] = R.uniform(0, 1) end
      return call("rainbow", { strike = strike(R, sum / n), type = kind, weights = weights })
    end
    return call("basket", { strike = strike(R, sum / #keys.assets), type = kind })
  end
  if which == 10 then
    local top = 0
    for k = 1, #keys.assets do top = math.max(top, keys.assets[k].spot) end
    return call("best_of", { strike = strike(R, top), type = kind })
  end
  if which == 12 then
    return call("double_barrier", { strike = K, type = kind, asset = i, low = a.spot * R.uniform(0.6, 0.9), high = a.spot * R.uniform(1.1, 1.6),
      knock = R.pick("out", "in"), monitoring = bridged, rebate = R.chance(0.4) and R.uniform(1, 20) or nil })
  end
  if which == 13 and keys.steps > 1 then
    return call("forward_start", { type = kind, asset = i, start = R.int(1, keys.steps - 1), moneyness = R.chance(0.7) and R.log(0.8, 1.2) or nil })
  end
  if which == 14 then
    local bottom = math.huge
    for k = 1, #keys.assets do bottom = math.min(bottom, keys.assets[k].spot) end
    return call("worst_of", { strike = strike(R, bottom), type = kind })
  end
  if which == 11 and #keys.assets > 1 then
    local j = i % #keys.assets + 1
    local gap = a.spot - keys.assets[j].spot
    return call("spread", { asset = i, second = j, strike = math.max(gap, 0) + R.pick(0, 5), type = kind })
  end
  if which == 16 then
    local up = kind and R.uniform(0.75, 0.98) or R.uniform(1.02, 1.3)
    return call("accumulator", { strike = a.spot * R.uniform(0.85, 1.15), type = kind, asset = i, level = R.chance(0.7) and a.spot * up or nil,
      shares = R.chance(0.5) and R.log(0.1, 10) or nil, gearing = R.chance(0.5) and R.pick(0, 1, 1.5) or nil, guaranteed = R.chance(0.4) and R.int(1, 3) or nil,
      settle = R.chance(0.5) and "maturity" or nil, every = keys.steps % 2 == 0 and R.pick(1, 2) or 1 })
  end
  return call("autocallable", { asset = i, level = a.spot * R.uniform(0.95, 1.1), coupon = R.uniform(0.01, 0.1),
    protection = a.spot * R.uniform(0.5, 0.9), every = keys.steps % 2 == 0 and R.pick(1, 2) or 1 })
end

-- A custom payoff: its text, and what it sees: "last", "steps" or "bridge".
local function own(R, s)
  local assets = s.keys.assets
  local i = R.int(1, #assets)
  local spot = assets[i].spot
  local jumps = false
  for _, a in ipairs(assets) do jumps = jumps or a.jumps or a.sabr end
  local kind = R.int(1, jumps and 3 or 6)
  if kind == 1 then
    return fn(("function(path) return sim.max(path.last[%d] - %%g, 0) end"):format(i), strike(R, spot)), "last"
  elseif kind == 2 then
    return fn(("function(path) return sim.max(path.mean[%d] - %%g, 0) end"):format(i), strike(R, spot)), "steps"
  elseif kind == 3 then
    return fn(("function(path) return sim.max(path.max[%d] - path.min[%d], 0) end"):format(i, i)), "steps"
  elseif kind == 4 then
    return fn(("function(path) return sim.where(sim.all(sim.lt(path.high[%d], %%g), sim.gt(path.low[%d], %%g)), " ..
      "sim.max(path.last[%d] - %%g, 0), 0) end"):format(i, i, i), spot * R.uniform(1.1, 1.5), spot * R.uniform(0.6, 0.9), spot * R.uniform(0.8, 1)), "bridge"
  elseif kind == 5 then
    return fn(("function(path) return path.high[%d] - path.low[%d] end"):format(i, i)), "bridge"
  end
  local j = i % #assets + 1
  return fn(("function(path) return sim.max(path.high[%d] * %%g - path.high[%d], 0) end"):format(i, j), assets[j].spot / spot), "bridge"
end

-- A control variate that these assets may have.
local function control(R, s)
  for _, a in ipairs(s.keys.assets) do if not a.vol or a.jumps then return "underlying" end end
  if s.keys.payoff then return R.pick("underlying", "geometric") end
  return R.pick("underlying", "geometric", "black_scholes")
end

-- A rate of exchange as the last asset, and assets in its currency.
local function add_currency(R, keys)
  if not ask.knows("option", "currency") or not R.chance(0.3) then return end
  local n = #keys.assets
  local by = { spot = R.log(0.1, 10), vol = R.uniform(0.05, 0.3) }
  if R.chance(0.3) then by.vol = of_time(R, 0.05, 0.3, keys.maturity) end
  if R.chance(0.7) then by.dividend = of_time(R, 0, 0.08, keys.maturity) end
  if R.chance(0.15) then by.jumps = { rate = R.log(0.2, 3), mean = R.uniform(-0.1, 0.1), deviation = R.uniform(0, 0.1) } end
  local first = R.int(1, n)
  for i = 1, n do keys.assets[i].currency = (i == first or R.chance(0.6)) and n + 1 or nil end
  keys.assets[n + 1] = by
end

-- Says in which money a payoff on assets in another currency pays, and moves its prices there.
local function exchange(R, s, p)
  local assets, k = s.keys.assets, p.keys
  local by = assets[#assets].spot
  local foreign, home = 0, 0
  for i, a in ipairs(assets) do
    local on = i == k.asset or i == k.second or not k.asset and i < #assets
    if on and a.currency then foreign = foreign + 1 elseif on then home = home + 1 end
  end
  if foreign == 0 then return end
  k.exchange = R.pick("quanto", "composite", home == 0 and "payment" or "quanto")
  if k.exchange == "quanto" and R.chance(0.5) then k.exchange_rate = R.log(0.3, 3) end
  if k.exchange ~= "composite" then return end
  k.monitoring = nil
  for _, name in ipairs { "strike", "level", "low", "high", "protection" } do
    if k[name] and home == 0 then k[name] = k[name] * by end
  end
end

function M.draw(R)
  local maturity = R.chance(0.4) and 1 or R.log(0.2, 3)
  local keys = { assets = {}, maturity = maturity, rate = of_time(R, 0, 0.08, maturity), payoffs = {} }
  local s = call("option", keys)
  local n = R.pick(1, 1, 1, 2, 2, 3)
  for i = 1, n do keys.assets[i] = asset(R, maturity) end
  add_currency(R, keys)
  n = #keys.assets
  if n > 1 and R.chance(0.7) then
    -- Volatilities that change in different ways reduce a correlation: most runs have none.
    if R.chance(0.8) then
      for _, a in ipairs(keys.assets) do if a.vol and type(a.vol) ~= "number" then a.vol = R.uniform(0.1, 0.5) end end
    end
    keys.correlation = {}
    local load_of = {}
    for i = 1, n do load_of[i] = R.uniform(-0.95, 0.95) end
    for i = 1, n do
      keys.correlation[i] = {}
      for j = 1, n do keys.correlation[i][j] = i == j and 1 or load_of[i] * load_of[j] end
    end
  end
  keys.steps = R.pick(1, 2, 3, 4, 6, 8, 12)
  for _, a in ipairs(keys.assets) do if not a.vol then keys.steps = R.pick(8, 12, 16) end end
  for k = 1, R.pick(1, 1, 2, 3) do
    keys.payoffs[k] = payoff(R, s)
    exchange(R, s, keys.payoffs[k])
    if R.chance(0.3) then keys.payoffs[k].keys.name = "own_" .. k end
  end
  if R.chance(0.25) then
    keys.payoff = own(R, s)
    if R.chance(0.5) then keys.payoffs = {} end
  end
  keys.sampling = { paths = 2 ^ R.int(13, 15) }
  if R.chance(0.3) then keys.sampling.antithetic = true end
  local rough = false
  for _, a in ipairs(keys.assets) do rough = rough or a.rough_bergomi ~= nil end
  if R.chance(0.25) and not rough then
    keys.sampling.sequence = "sobol"
    keys.sampling.scrambles = R.pick(16, 32, 64)
    if R.chance(0.3) then keys.sampling.construction = "pca" end
  elseif R.chance(0.2) then
    keys.sampling.moment_matching = true
  end
  if R.chance(0.35) then keys.sampling.control = control(R, s) end
  if R.chance(0.3) then keys.precision = "mixed" end
  if ask.knows("option", "mrg32k3a") and keys.sampling.sequence ~= "sobol" and R.chance(0.2) then keys.sampling.generator = "mrg32k3a" end
  keys.seed = R.int(1, 1000000)
  keys.output = { snapshots = "never", tables = "ends", checkpoint = "never" }
  return s
end

M.asset, M.control = asset, control
return M
