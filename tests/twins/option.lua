-- Random options, and the ways to ask for their prices.
local scenario, F, ask = require "scenario", require "formulas", require "ask"
local call, fn, copy = scenario.call, scenario.fn, scenario.copy
local M = { name = "option" }

-- ---- draws --------------------------------------------------------------------------------------------------------

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
  local kind = R.int(1, 10)
  if kind <= 6 then
    a.vol = of_time(R, 0.1, 0.5, maturity)
  elseif kind <= 8 then
    a.heston = { v = R.log(0.01, 0.2), kappa = R.log(0.5, 4), theta = R.log(0.01, 0.2), sigma = R.log(0.1, 1), rho = R.uniform(-0.9, 0.6) }
  elseif kind == 9 then
    a.local_vol = fn("function(S, t) return %g * math.sqrt(%g / sim.max(S, %g)) end", R.uniform(0.1, 0.4), a.spot, a.spot / 10)
    if R.chance(0.3) then a.local_vol = fn("function(S, t) return %g + 0 * S end", R.uniform(0.1, 0.4)) end
  else
    a.vol_grid = { spots = { a.spot / 2, a.spot, a.spot * 2 }, times = { 0, maturity },
      vols = { R.uniform(0.2, 0.4), R.uniform(0.15, 0.3), R.uniform(0.15, 0.3), R.uniform(0.2, 0.4), R.uniform(0.15, 0.3), R.uniform(0.15, 0.3) } }
  end
  if (a.vol or a.heston) and R.chance(0.3) then
    a.jumps = { rate = R.log(0.2, 3), mean = R.uniform(-0.3, 0.2), deviation = R.uniform(0, 0.3) }
  end
  if R.chance(0.4) then a.dividend = of_time(R, 0, 0.08, maturity) end
  return a
end

local function strike(R, spot) return R.chance(0.3) and spot or spot * R.log(0.75, 1.35) end

-- Where a normal number is below x with probability p.
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
  local bridged = not a.jumps and R.chance(0.5) and "continuous" or nil
  local which = R.int(1, 12)
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
      direction = down and "down" or "up", knock = R.pick("out", "in"), monitoring = bridged })
  end
  if which == 8 then
    return call("lookback", { strike = R.chance(0.5) and K or nil, type = kind, asset = i, monitoring = bridged })
  end
  if which == 9 then
    local sum = 0
    for k = 1, #keys.assets do sum = sum + keys.assets[k].spot end
    return call("basket", { strike = strike(R, sum / #keys.assets), type = kind })
  end
  if which == 10 then
    local top = 0
    for k = 1, #keys.assets do top = math.max(top, keys.assets[k].spot) end
    return call("best_of", { strike = strike(R, top), type = kind })
  end
  if which == 11 and #keys.assets > 1 then
    local j = i % #keys.assets + 1
    local gap = a.spot - keys.assets[j].spot
    return call("spread", { asset = i, second = j, strike = math.max(gap, 0) + R.pick(0, 5), type = kind })
  end
  return call("autocallable", { asset = i, level = a.spot * R.uniform(0.95, 1.1), coupon = R.uniform(0.01, 0.1),
    protection = a.spot * R.uniform(0.5, 0.9), every = keys.steps % 2 == 0 and R.pick(1, 2) or 1 })
end

-- A payoff of one's own; its text, and what it sees: "last", "steps" or "bridge".
local function own(R, s)
  local assets = s.keys.assets
  local i = R.int(1, #assets)
  local spot = assets[i].spot
  local jumps = false
  for _, a in ipairs(assets) do jumps = jumps or a.jumps end
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

function M.draw(R)
  local maturity = R.chance(0.4) and 1 or R.log(0.2, 3)
  local keys = { assets = {}, maturity = maturity, rate = of_time(R, 0, 0.08, maturity), payoffs = {} }
  local s = call("option", keys)
  local n = R.pick(1, 1, 1, 2, 2, 3)
  for i = 1, n do keys.assets[i] = asset(R, maturity) end
  if n > 1 and R.chance(0.7) then
    -- Volatilities that change in different ways take some of a correlation away: most runs are asked without.
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
  for k = 1, R.pick(1, 1, 2, 3) do keys.payoffs[k] = payoff(R, s) end
  if R.chance(0.25) then
    keys.payoff = own(R, s)
    if R.chance(0.5) then keys.payoffs = {} end
  end
  keys.sampling = { paths = 2 ^ R.int(13, 15) }
  if R.chance(0.3) then keys.sampling.antithetic = true end
  if R.chance(0.25) then
    keys.sampling.sequence = "sobol"
    keys.sampling.scrambles = R.pick(16, 32, 64)
    if R.chance(0.3) then keys.sampling.construction = "pca" end
  elseif R.chance(0.2) then
    keys.sampling.moment_matching = true
  end
  if R.chance(0.35) then keys.sampling.control = control(R, s) end
  if R.chance(0.3) then keys.precision = R.pick("single", "mixed") end
  if ask.knows("option", "mrg32k3a") and keys.sampling.sequence ~= "sobol" and R.chance(0.2) then keys.sampling.generator = "mrg32k3a" end
  keys.seed = R.int(1, 1000000)
  keys.output = { snapshots = "never", tables = "ends", checkpoint = "never" }
  return s
end

-- ---- helpers ------------------------------------------------------------------------------------------------------

-- Of a list of named columns payoff_1, payoff_2, ...
local function prices(r)
  local table_of, errors = r.tables.prices, r.tables.errors
  if not table_of then return { r:last("price", "price") }, { r:last("price", "standard_error") } end
  local p, e = {}, {}
  while table_of["payoff_" .. #p + 1] do
    local name = "payoff_" .. #p + 1
    p[#p + 1], e[#e + 1] = table_of[name][#table_of[name]], errors[name][#errors[name]]
  end
  return p, e
end

-- Prices, errors and the run of a scenario by random numbers of their own: `way` tells them apart.
local function priced(T, s, way, how)
  local asked = copy(s)
  local sampling = asked.keys.sampling or {}
  asked.keys.sampling = sampling
  if T.stage == 2 then sampling.paths = 16 * (sampling.paths or 2 ^ 14) end
  how = how or {}
  how.words = how.words or {}
  table.insert(how.words, "--seed")
  table.insert(how.words, tostring((asked.keys.seed or 1) + 1000003 * (way + 10 * T.stage)))
  local r = T:ask(asked, how)
  local p, e = prices(r)
  return p, e, r
end

local function compare(T, what, p, e, q, f, bias)
  if #p ~= #q then T:disagree(what, "%d and %d prices", #p, #q) end
  for k = 1, #p do T:sure(("%s, price %d"):format(what, k), p[k], e[k], q[k], f[k], bias) end
end

local function scale(s)
  local top = 1
  for _, a in ipairs(s.keys.assets) do top = math.max(top, a.spot or 1) end
  for _, p in ipairs(s.keys.payoffs or {}) do top = math.max(top, math.abs(p.keys.cash or 0)) end
  return top
end
-- What the same paths may differ by when the arithmetic differs: rounding of each price of a path (64 operations a step),
-- and, in single precision, a path or two that fall on the other side of a strike or level.
local function rounding(s)
  local paths = s.keys.sampling and s.keys.sampling.paths or 2 ^ 14
  local steps = s.keys.steps or 1
  if (s.keys.precision or "double") == "double" then return scale(s) * 64 * (steps + 4) * 2 ^ -52 end
  return scale(s) * (8 * (steps + 4) * 2 ^ -23 + 4 / paths)
end

local function all_assets(s, test) for _, a in ipairs(s.keys.assets) do if not test(a) then return false end end return true end
local function any_payoff(s, test) for k, p in ipairs(s.keys.payoffs or {}) do if test(p.keys, p.name, k) then return true end end return false end
local function plain(s)
  local c = copy(s)
  local old = c.keys.sampling or {}
  c.keys.sampling = { paths = old.paths, sequence = old.sequence, antithetic = old.antithetic }
  return c
end
-- Constant volatility and no jumps: bridges are exact.
local function constant(a) return type(a.vol) == "number" and not a.jumps end
-- Whether steps make no difference to the law of what is paid.
local function free_of_steps(s)
  if not all_assets(s, function(a) return a.vol ~= nil end) then return false end
  local bridges = all_assets(s, constant) and type(s.keys.rate or 0) == "number" and
    all_assets(s, function(a) return type(a.dividend or 0) == "number" end)
  if s.keys.payoff then
    local words = s.keys.payoff.words
    if words:find("mean") or words:find("max%[") or words:find("min%[") then return false end
    if (words:find("high") or words:find("low")) and not bridges then return false end
  end
  return not any_payoff(s, function(p, name)
    if name == "asian" or name == "american" or name == "autocallable" then return true end
    if name == "barrier" or name == "lookback" then return p.monitoring ~= "continuous" or not bridges end
    return false
  end)
end

-- ---- closed forms -------------------------------------------------------------------------------------------------

local function integral_of(v, to, power)
  local f = F.value(v or 0)
  if type(v) == "number" or v == nil then return f(0) ^ power * to end
  return F.integral(function(t) return f(t) ^ power end, 0, to, v.breaks)
end
local function discount(s, t) return math.exp(-integral_of(s.keys.rate, t or s.keys.maturity, 1)) end
local function forward(s, a, t)
  t = t or s.keys.maturity
  return a.spot * math.exp(integral_of(s.keys.rate, t, 1) - integral_of(a.dividend, t, 1))
end

-- The price of a named payoff where a formula is known, else nil.
local function exact(s, p)
  local k, T = p.keys, s.keys.maturity
  local a = s.keys.assets[k.asset or 1]
  if not a or not a.vol then return nil end
  local D, put = discount(s), k.type == "put"
  local fwd, var = forward(s, a), integral_of(a.vol, T, 2)
  local function jumping(price) return a.jumps and F.merton(a.jumps, T, fwd, var, price) or price(fwd, var) end
  if p.name == "european" then
    return jumping(function(f, v) return F.black(put, f, v, k.strike, D) end)
  elseif p.name == "digital" then
    return (k.cash or 1) * jumping(function(f, v) return F.digital(put, f, v, k.strike, D) end)
  elseif p.name == "asian" and k.average == "geometric" and not a.jumps then
    local n = s.keys.steps or 1
    local mean, variance, before = 0, 0, 0
    for j = 1, n do
      local t = T * j / n
      local v = integral_of(a.vol, t, 2)
      mean = mean + (math.log(forward(s, a, t)) - v / 2) / n
      variance = variance + ((n - j + 1) / n) ^ 2 * (v - before)
      before = v
    end
    return F.black(put, math.exp(mean + variance / 2), variance, k.strike, D)
  elseif p.name == "basket" and #s.keys.assets == 1 and not k.weights or p.name == "best_of" and #s.keys.assets == 1 then
    return jumping(function(f, v) return F.black(put, f, v, k.strike, D) end)
  elseif p.name == "spread" and k.strike == 0 then
    local b = s.keys.assets[k.second or 2]
    if not b or not b.vol or a.jumps or b.jumps then return nil end
    local x, y = F.value(a.vol), F.value(b.vol)
    local rho = s.keys.correlation and s.keys.correlation[k.asset or 1][k.second or 2] or 0
    local breaks = {}
    for _, v in ipairs { a.vol, b.vol } do for _, t in ipairs(type(v) == "table" and v.breaks or {}) do breaks[#breaks + 1] = t end end
    table.sort(breaks)
    local cross = F.integral(function(t) return x(t) * y(t) end, 0, T, breaks)
    local fa, fb = forward(s, a), forward(s, b)
    return F.black(put, fa, var + integral_of(b.vol, T, 2) - 2 * rho * cross, fb, D)
  end
  if not constant(a) or type(s.keys.rate or 0) ~= "number" or type(a.dividend or 0) ~= "number" then return nil end
  local r, q = s.keys.rate or 0, a.dividend or 0
  if p.name == "barrier" and k.monitoring == "continuous" then
    local out = F.knock_out(put, a.spot, k.strike, r, q, a.vol, T, k.direction ~= "up" and k.level or nil, k.direction == "up" and k.level or nil)
    return k.knock == "in" and F.black(put, fwd, var, k.strike, D) - out or out
  elseif p.name == "lookback" and k.monitoring == "continuous" and type(k.strike) ~= "number" then
    local high, low = F.extremes(a.spot, r, q, a.vol, T)
    return D * (put and high - fwd or fwd - low)
  end
end

-- ---- the twins ----------------------------------------------------------------------------------------------------

local function named_as_text(s, p)
  local k = p.keys
  local i, put = k.asset or 1, k.type == "put"
  local g = scenario.number
  local function vanilla(x, K) return put and ("sim.max(%s - %s, 0)"):format(K, x) or ("sim.max(%s - %s, 0)"):format(x, K) end
  local last = ("path.last[%d]"):format(i)
  if p.name == "european" then return vanilla(last, g(k.strike)) end
  if p.name == "digital" then return ("sim.where(sim.%s(%s, %s), %s, 0)"):format(put and "lt" or "gt", last, g(k.strike), g(k.cash or 1)) end
  if p.name == "asian" then return vanilla(("path.%s[%d]"):format(k.average == "geometric" and "geometric" or "mean", i), g(k.strike)) end
  if p.name == "barrier" and k.monitoring ~= "continuous" then
    local up = k.direction == "up"
    local lives = ("sim.%s(path.%s[%d], %s)"):format(up and "lt" or "gt", up and "max" or "min", i, g(k.level))
    local pay = vanilla(last, g(k.strike))
    return k.knock == "in" and ("sim.where(%s, 0, %s)"):format(lives, pay) or ("sim.where(%s, %s, 0)"):format(lives, pay)
  end
  if p.name == "barrier" then
    local up = k.direction == "up"
    local lives = ("sim.%s(path.%s[%d], %s)"):format(up and "lt" or "gt", up and "high" or "low", i, g(k.level))
    local pay = vanilla(last, g(k.strike))
    return k.knock == "in" and ("sim.where(%s, 0, %s)"):format(lives, pay) or ("sim.where(%s, %s, 0)"):format(lives, pay), true
  end
  if p.name == "lookback" then
    local bridged = k.monitoring == "continuous"
    local high, low = ("path.%s[%d]"):format(bridged and "high" or "max", i), ("path.%s[%d]"):format(bridged and "low" or "min", i)
    if type(k.strike) == "number" then
      return put and ("sim.max(%s - %s, 0)"):format(g(k.strike), low) or ("sim.max(%s - %s, 0)"):format(high, g(k.strike)), bridged
    end
    return put and ("%s - %s"):format(high, last) or ("%s - %s"):format(last, low), bridged
  end
  if p.name == "basket" then
    local sum = {}
    for j = 1, #s.keys.assets do sum[j] = ("path.last[%d]"):format(j) end
    return vanilla(("(%s)/%d"):format(table.concat(sum, " + "), #sum), g(k.strike))
  end
  if p.name == "best_of" then
    local top = "path.last[1]"
    for j = 2, #s.keys.assets do top = ("sim.max(%s, path.last[%d])"):format(top, j) end
    return vanilla(top, g(k.strike))
  end
  if p.name == "spread" then return vanilla(("(%s - path.last[%d])"):format(last, k.second or 2), g(k.strike)) end
  if p.name == "autocallable" and type(s.keys.rate or 0) == "number" then
    local n, every, cash, T = s.keys.steps or 1, k.every or 1, k.cash or 100, s.keys.maturity
    local pay = ("sim.where(sim.lt(%s, %s), %s * %s / %s, %s)"):format(last, g(k.protection), g(cash), last, g(s.keys.assets[i].spot), g(cash))
    local dates = {}
    for step = every, n, every do dates[#dates + 1] = step end
    if dates[#dates] ~= n then dates[#dates + 1] = n end
    for d = #dates, 1, -1 do
      local factor = cash * (1 + k.coupon * d) * math.exp((s.keys.rate or 0) * T * (n - dates[d]) / n)
      pay = ("sim.where(sim.lt(path.fixing[%d][%d], %s), %s, %s)"):format(i, dates[d], g(k.level), pay, g(factor))
    end
    return pay
  end
end

local function with_sampling(s, change)
  local c = copy(s)
  c.keys.sampling = c.keys.sampling or {}
  change(c.keys.sampling, c.keys)
  return c
end

M.twins = {
  { name = "control", weight = 3,
    prepare = function(s, R) return { control = control(R, s) } end,
    check = function(T, s, a)
      local p, e = priced(T, with_sampling(s, function(x) x.control = nil end), 1)
      local q, f = priced(T, with_sampling(s, function(x) x.control = a.control end), 2)
      compare(T, "without and with control = " .. a.control, p, e, q, f)
    end },

  { name = "sampling", weight = 3,
    prepare = function(_, R)
      return { other = ask.knows("option", "mrg32k3a") and R.chance(0.4), sobol = R.chance(0.5), pca = R.chance(0.3), antithetic = R.chance(0.5), matching = R.chance(0.4), control = R.chance(0.4) }
    end,
    check = function(T, s, a)
      local p, e = priced(T, s, 1)
      local q, f = priced(T, with_sampling(s, function(x)
        x.sequence = a.sobol and "sobol" or nil
        if not a.sobol then x.scrambles = nil end
        x.construction = a.sobol and a.pca and "pca" or nil
        x.antithetic = a.antithetic or nil
        x.generator = not a.sobol and a.other and "mrg32k3a" or nil
        x.moment_matching = not a.sobol and a.matching or nil
        x.control = a.control and "underlying" or nil
      end), 2)
      compare(T, "two samplings", p, e, q, f)
    end },

  { name = "precision",
    check = function(T, s)
      local c = copy(s)
      c.keys.precision = (s.keys.precision or "double") == "double" and "single" or "double"
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "two precisions", p, e, q, f, 1e-6 * scale(s))
    end },

  { name = "named", weight = 2,
    applies = function(s) return #(s.keys.payoffs or {}) > 0 end,
    check = function(T, s)
      local c, texts, which, bridged = plain(s), {}, {}, {}
      for k, p in ipairs(s.keys.payoffs) do
        local text, chance = named_as_text(s, p)
        if text then
          texts[#texts + 1], which[#which + 1], bridged[#bridged + 1] = text, k, chance or false
        end
      end
      if #texts == 0 then error({ refused = "no payoff with a text" }) end
      c.keys.payoff = scenario.text("function(path) return " .. table.concat(texts, ", ") .. " end")
      local p, e = priced(T, c, 1)
      for j, k in ipairs(which) do
        local what = ("payoff %d by name and as a function"):format(k)
        if bridged[j] then
          T:sure(what, p[j], e[j], p[#texts + k], e[#texts + k])
        else
          T:near(what, p[j], p[#texts + k], rounding(c))
        end
      end
    end },

  { name = "finer", weight = 3,
    applies = free_of_steps,
    prepare = function(_, R) return { factor = R.pick(2, 3, 5) } end,
    check = function(T, s, a)
      if not free_of_steps(s) then error({ refused = "steps matter" }) end
      local c = copy(s)
      c.keys.steps = (s.keys.steps or 1) * a.factor
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "steps and finer ones", p, e, q, f)
    end },

  { name = "closed form", weight = 3,
    applies = function(s) return any_payoff(s, function(_, _, k) return exact(s, s.keys.payoffs[k]) ~= nil end) end,
    check = function(T, s)
      local p, e = priced(T, s, 1)
      local first = #p - #(s.keys.payoffs or {})
      for k, payoff_k in ipairs(s.keys.payoffs or {}) do
        local value = exact(s, payoff_k)
        if value then
          T:sure(("payoff %d, %s, and its formula"):format(k, payoff_k.name), p[first + k], e[first + k], value, 0, scale(s) * 1e-9)
        end
      end
    end },

  { name = "Greeks and formulas", weight = 2,
    applies = function(s) return any_payoff(s, function(p, name) return (name == "european" or name == "digital") and s.keys.assets[p.asset].vol ~= nil end) end,
    prepare = function(_, R) return { method = R.pick("auto", "auto", "bump"), all = R.chance(0.5) } end,
    check = function(T, s, a)
      local c, p = copy(s), nil
      for _, x in ipairs(s.keys.payoffs) do if x.name == "european" or x.name == "digital" then p = p or copy(x) end end
      if not p then error({ refused = "no payoff with a formula" }) end
      local asset_of = copy(s.keys.assets[p.keys.asset or 1])
      if not asset_of.vol then error({ refused = "another model" }) end
      p.keys.asset = nil
      c.keys.assets, c.keys.correlation, c.keys.payoff, c.keys.payoffs = { asset_of }, nil, nil, { p }
      c.keys.greeks = { delta = true, gamma = true, vega = true, rho = true, theta = a.all or nil, method = a.method }
      local function value(change, h)
        local d = copy(c)
        change(d.keys, h)
        return exact(d, d.keys.payoffs[1])
      end
      local function plus(v, h) -- a number or a function of time, and a number more
        if type(v) == "number" then return v + h end
        local f = fn("function(t) return (" .. v.words .. ")(t) + %g end", h)
        f.breaks = v.breaks
        return f
      end
      local h = asset_of.spot * 1e-4
      local up, same, down = value(function(k) k.assets[1].spot = k.assets[1].spot + h end), exact(c, p), value(function(k) k.assets[1].spot = k.assets[1].spot - h end)
      local function slope(change, e) return (value(change, e) - value(change, -e)) / (2 * e) end
      local want = { delta = (up - down) / (2 * h), gamma = (up - 2 * same + down) / h ^ 2,
        vega = slope(function(k, e) k.assets[1].vol = plus(k.assets[1].vol, e) end, 1e-5),
        rho = slope(function(k, e) k.rate = plus(k.rate or 0, e) end, 1e-5) }
      if a.all and type(c.keys.rate) == "number" and type(asset_of.vol) == "number" and type(asset_of.dividend or 0) == "number" then
        want.theta = -slope(function(k, e) k.maturity = k.maturity + e end, 1e-5 * c.keys.maturity)
      end
      local _, _, r = priced(T, c, 1)
      for name, v in pairs(want) do
        local got, error_of = r:last("price", name), r:last("price", name .. "_error")
        -- Differences of the formula are good to 1e-5, and so are those of the program, of relative width 1e-3 or so.
        if got then T:sure(name .. " and its formula", got, error_of, v, 0, 2e-3 * math.abs(v) + 1e-4 * scale(c) / (name == "delta" and asset_of.spot or name == "gamma" and asset_of.spot ^ 2 or 1)) end
      end
    end },

  { name = "two barriers",
    applies = function(s) return constant(s.keys.assets[1]) and type(s.keys.rate) == "number" and type(s.keys.assets[1].dividend or 0) == "number" end,
    prepare = function(s, R)
      local a = s.keys.assets[1]
      local width = a.vol * math.sqrt(s.keys.maturity)
      return { high = math.exp(width * R.uniform(0.35, 1.2)), low = math.exp(-width * R.uniform(0.35, 1.2)), strike = R.uniform(0.8, 1), steps = R.pick(1, 2, 4) }
    end,
    check = function(T, s, a)
      local c = plain(s)
      local one = s.keys.assets[1]
      if not constant(one) or type(s.keys.rate or 0) ~= "number" then error({ refused = "not constant" }) end
      c.keys.steps, c.keys.sampling.paths = a.steps, 2 ^ 17
      local low, high, K = one.spot * a.low, one.spot * a.high, one.spot * a.strike
      c.keys.payoffs = nil
      c.keys.payoff = fn("function(path) return sim.where(sim.all(sim.lt(path.high[1], %g), sim.gt(path.low[1], %g)), sim.max(path.last[1] - %g, 0), 0) end", high, low, K)
      local p, e = priced(T, c, 1)
      T:sure("double knock-out and its series", p[1], e[1],
        F.knock_out(false, one.spot, K, s.keys.rate or 0, one.dividend or 0, one.vol, s.keys.maturity, low, high), 0)
    end },

  { name = "bias of the steps", weight = 2,
    applies = function(s) return ask.knows("option", "bias") and not all_assets(s, function(a) return a.vol ~= nil end) and not s.keys.payoff and
      not any_payoff(s, function(p, name) return name ~= "european" and name ~= "basket" and name ~= "spread" and name ~= "best_of" end) end,
    check = function(T, s)
      local c = plain(s)
      c.keys.steps = 8 * (s.keys.steps or 8)
      local d = plain(s)
      local p, e, r = priced(T, d, 1)
      local q, f = priced(T, c, 2)
      for k = 1, #p do
        local name = "payoff_" .. k
        local b = #p == 1 and r:last("price", "bias") or r:last("biases", name)
        local be = #p == 1 and r:last("price", "bias_error") or r:last("bias_errors", name)
        if b == nil then T:disagree("bias of the steps", "none is told of price %d", k) end
        -- Of first order: eight times as many steps leave an eighth; a quarter of it may be of higher order.
        T:sure(("price %d less its bias, and by finer steps"):format(k), p[k] - b * 7 / 8, math.sqrt(e[k] ^ 2 + be ^ 2), q[k], f[k], math.abs(b) / 2 + 1e-4 * scale(s))
      end
    end },

  { name = "forward", weight = 2,
    check = function(T, s)
      local c, texts = copy(s), {}
      c.keys.payoffs = nil
      for i = 1, #s.keys.assets do texts[i] = ("path.last[%d]"):format(i) end
      c.keys.payoff = scenario.text("function(path) return " .. table.concat(texts, ", ") .. " end")
      if c.keys.sampling and c.keys.sampling.control == "black_scholes" then c.keys.sampling.control = "geometric" end
      local p, e = priced(T, c, 1)
      for i, a in ipairs(s.keys.assets) do
        T:sure(("the mean of asset %d and its forward"):format(i), p[i], e[i], forward(s, a) * discount(s), 0, a.spot * 1e-6)
      end
    end },

  { name = "parity",
    applies = function(s) return #s.keys.payoffs > 0 end,
    prepare = function(s, R) return { strike = s.keys.assets[1].spot * R.uniform(0.7, 1.4), asset = 1 } end,
    check = function(T, s, a)
      local c = copy(s)
      c.keys.payoff = nil
      c.keys.payoffs = { call("european", { strike = a.strike }), call("european", { strike = a.strike, type = "put" }) }
      local p, e = priced(T, c, 1)
      T:sure("call less put and the forward", p[1] - p[2], e[1] + e[2], discount(s) * (forward(s, s.keys.assets[1]) - a.strike), 0, scale(s) * 1e-6)
    end },

  { name = "in and out",
    applies = function(s) return any_payoff(s, function(_, name) return name == "barrier" end) end,
    check = function(T, s)
      local c = plain(s)
      c.keys.payoff, c.keys.payoffs = nil, {}
      for _, p in ipairs(s.keys.payoffs) do
        if p.name == "barrier" then
          local k = copy(p.keys)
          k.knock = "out"
          c.keys.payoffs[1] = call("barrier", k)
          k = copy(k)
          k.knock = "in"
          c.keys.payoffs[2] = call("barrier", k)
          c.keys.payoffs[3] = call("european", { strike = k.strike, type = k.type, asset = k.asset })
        end
      end
      local p = priced(T, c, 1)
      T:near("knock-in and knock-out and the European", p[1] + p[2], p[3], rounding(c))
    end },

  { name = "split book", weight = 2,
    applies = function(s) return #s.keys.payoffs > 1 end,
    prepare = function(s, R) return { one = R.int(1, #s.keys.payoffs) } end,
    check = function(T, s, a)
      local c = copy(s)
      c.keys.payoffs = { s.keys.payoffs[a.one] }
      c.keys.payoff = nil
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 1)
      local first = #p - #s.keys.payoffs
      local bound = rounding(s)
      T:near("a payoff in a book and alone", p[first + a.one], q[1], bound)
      T:near("its standard error", e[first + a.one], f[1], bound)
    end },

  { name = "bystander", weight = 2,
    prepare = function(s, R)
      local other = asset(R, s.keys.maturity)
      other.heston, other.local_vol, other.vol_grid, other.vol = nil, nil, nil, 0.3
      if R.chance(0.5) then other.jumps = { rate = 1, mean = -0.2, deviation = 0.1 } end
      return { other = other, control = R.chance(0.5) }
    end,
    applies = function(s) return not any_payoff(s, function(_, name) return name == "basket" or name == "best_of" end) end,
    check = function(T, s, a)
      local c = copy(s)
      if a.control then s = with_sampling(s, function(x) x.control = "underlying" end); c = copy(s) end
      local n = #s.keys.assets
      c.keys.assets[n + 1] = a.other
      if c.keys.correlation then
        for i = 1, n do c.keys.correlation[i][n + 1] = 0 end
        c.keys.correlation[n + 1] = {}
        for i = 1, n + 1 do c.keys.correlation[n + 1][i] = i == n + 1 and 1 or 0 end
      end
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "without and with an asset that pays nothing", p, e, q, f)
    end },

  { name = "one asset as two",
    applies = function(s) return #s.keys.assets == 1 and #s.keys.payoffs > 0 and not s.keys.payoff end,
    check = function(T, s)
      local c = copy(s)
      c.keys.assets[2] = copy(c.keys.assets[1])
      c.keys.correlation = { { 1, 1 }, { 1, 1 } }
      if c.keys.assets[1].heston or c.keys.assets[1].jumps then error({ refused = "words of their own" }) end
      for _, p in ipairs(c.keys.payoffs) do
        if p.name ~= "basket" and p.name ~= "best_of" then p.keys.asset = 2 end
      end
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "one asset and the same one twice", p, e, q, f)
    end },

  { name = "order of assets",
    applies = function(s) return #s.keys.assets > 1 and not s.keys.payoff end,
    check = function(T, s)
      local c, n = copy(s), #s.keys.assets
      for i = 1, n do c.keys.assets[i] = s.keys.assets[n + 1 - i] end
      if s.keys.correlation then
        for i = 1, n do for j = 1, n do c.keys.correlation[i][j] = s.keys.correlation[n + 1 - i][n + 1 - j] end end
      end
      for _, p in ipairs(c.keys.payoffs) do
        if p.name ~= "basket" and p.name ~= "best_of" then p.keys.asset = n + 1 - (p.keys.asset or 1) end
        if p.name == "spread" then p.keys.second = n + 1 - (p.keys.second or 2) end
      end
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "assets in reverse order", p, e, q, f)
    end },

  { name = "unit of money",
    applies = function(s) return not s.keys.payoff and all_assets(s, function(a) return not a.local_vol end) end,
    check = function(T, s)
      local c, by = plain(s), 64
      for _, a in ipairs(c.keys.assets) do
        a.spot = a.spot * by
        if a.vol_grid then for i, x in ipairs(a.vol_grid.spots) do a.vol_grid.spots[i] = x * by end end
      end
      for _, p in ipairs(c.keys.payoffs) do
        for _, k in ipairs { "level", "protection", "strike" } do
          if type(p.keys[k]) == "number" then p.keys[k] = p.keys[k] * by end
        end
        if p.name == "digital" then p.keys.cash = (p.keys.cash or 1) * by end
        if p.name == "autocallable" then p.keys.cash = (p.keys.cash or 100) * by end
      end
      local p = priced(T, plain(s), 1)
      local q = priced(T, c, 1)
      for k = 1, #p do T:near("prices in another unit of money", p[k], q[k] / by, rounding(s)) end
    end },

  { name = "unit of time",
    applies = function(s)
      return type(s.keys.rate) == "number" and all_assets(s, function(a)
        return not a.local_vol and not a.vol_grid and type(a.vol or 0) == "number" and type(a.dividend or 0) == "number"
      end)
    end,
    check = function(T, s)
      local c, by = plain(s), 4
      c.keys.maturity = c.keys.maturity * by
      c.keys.rate = (c.keys.rate or 0) / by
      for _, a in ipairs(c.keys.assets) do
        if a.dividend then a.dividend = a.dividend / by end
        if a.vol then a.vol = a.vol / math.sqrt(by) end
        if a.jumps then a.jumps.rate = a.jumps.rate / by end
        local h = a.heston
        if h then h.v, h.kappa, h.theta, h.sigma = h.v / by, h.kappa / by, h.theta / by, h.sigma / by end
      end
      local p = priced(T, plain(s), 1)
      local q = priced(T, c, 1)
      for k = 1, #p do T:near("prices in another unit of time", p[k], q[k], rounding(s)) end
    end },

  { name = "models that are one",
    prepare = function(_, R) return { way = R.int(1, 3) } end,
    applies = function(s) return type(s.keys.assets[1].vol) == "number" end,
    check = function(T, s, a)
      local c = copy(s)
      local one = c.keys.assets[1]
      if type(one.vol) ~= "number" then error({ refused = "another model" }) end
      if a.way == 1 then
        if one.jumps then error({ refused = "jumps beside a local volatility" }) end
        one.local_vol, one.vol = fn("function(S, t) return %g + 0 * S end", one.vol), nil
      elseif a.way == 2 then
        if one.jumps then error({ refused = "jumps beside a local volatility" }) end
        one.vol_grid, one.vol = { spots = { one.spot / 2, one.spot * 2 }, times = { 0, 1 }, vols = { one.vol, one.vol, one.vol, one.vol } }, nil
      else
        if one.jumps then one.jumps = nil else one.jumps = { rate = 0, mean = 0.1, deviation = 0.1 } end
        s = copy(s)
        s.keys.assets[1].jumps = nil
        if not one.jumps then one.jumps = { rate = 1, mean = 0, deviation = 0 } end
      end
      for _, k in ipairs(c.keys.payoffs or {}) do if k.keys.monitoring then error({ refused = "bridges" }) end end
      s, c = with_sampling(s, function(x) x.control = nil end), with_sampling(c, function(x) x.control = nil end)
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "a model as another one", p, e, q, f)
    end },

  { name = "early exercise",
    applies = function(s) return s.keys.steps > 1 and not s.keys.precision end,
    prepare = function(s, R) return { strike = s.keys.assets[1].spot * R.uniform(0.8, 1.2) } end,
    check = function(T, s, a)
      local c = plain(s)
      c.keys.payoff = nil
      local n = c.keys.steps or 1
      local function american(keys) keys.strike, keys.fit_paths = a.strike, 4096; return call("american", keys) end
      c.keys.payoffs = { call("european", { strike = a.strike, type = "put" }), american { type = "put", every = n },
        american { type = "put" }, call("european", { strike = a.strike }), american {} }
      local p, e = priced(T, c, 1)
      T:near("exercise at maturity alone and a European", p[2], p[1], rounding(c))
      if p[3] < p[1] - 5 * (e[1] + e[3]) - 0.03 * p[1] then T:disagree("an American put", "%g below the European %g", p[3], p[1]) end
      if all_assets(c, function(x) return x.dividend == nil end) and p[5] > p[4] + 5 * (e[4] + e[5]) + 1e-9 then
        T:disagree("an American call without dividends", "%g above the European %g", p[5], p[4])
      end
    end },

  { name = "errors",
    check = function(T, s)
      local n, keep = 10, {}
      -- No error is told below what rounding may leave (docs/scenario.md).
      local floor = scale(s) * ((s.keys.precision or "double") == "double" and 2 ^ -36 or 2 ^ -17)
      for i = 1, n do
        local p, e = priced(T, s, 2 + i)
        keep[i] = { p = p, e = e }
      end
      for k = 1, #keep[1].p do
        local mean = 0
        for i = 1, n do mean = mean + keep[i].p[k] / n end
        local chi = 0
        for i = 1, n do
          local e = keep[i].e[k]
          if e ~= e then return end
          chi = chi + (keep[i].p[k] - mean) ^ 2 / math.max(e, 1e-300) ^ 2
        end
        -- chi squared of 9 degrees: above 60 with probability 1.3e-9, below 0.35 with 1e-6; errors of 16 scrambles vary by
        -- 18 %, which widens both sides.
        T:count()
        if chi > 60 or chi < 0.35 and keep[1].e[k] > floor then
          error({ chance = true, text = ("price %d of %d seeds scatters by %.3g of its standard error"):format(k, n, math.sqrt(chi / (n - 1))) })
        end
      end
    end },

  { name = "threads",
    prepare = function(_, R) return { threads = R.int(2, 4), isa = R.chance(0.5) } end,
    check = function(T, s, a)
      local p, _, r = priced(T, s, 1)
      local words = a.isa and (s.keys.precision or "double") == "double" and { "--isa", "plain" } or {}
      local q, _, r2 = priced(T, s, 1, { threads = a.threads, words = words })
      T:same("digests of 1 and more threads", r.digest, r2.digest)
      T:near("prices", p, q, 0)
    end },

  { name = "resumed",
    applies = function(s) return s.keys.steps <= 4 and all_assets(s, function(a) return a.vol end) end,
    check = function(T, s)
      local c = copy(s)
      c.keys.sampling = c.keys.sampling or {}
      c.keys.sampling.paths = 2 ^ 21
      c.keys.output = { snapshots = "never", tables = "every 1 steps", checkpoint = "every 1 steps" }
      local r = T:ask(c, { fresh = "resume" })
      local digest, p, e = r.digest, prices(r)
      local again = T:again(r, 2)
      T:same("digests of a run and one that went on", digest, again.digest)
      T:near("prices", p, (prices(again)), 0)
    end },

  { name = "device",
    weight = 12,
    applies = function(_, options) return options.device == "cuda" end,
    check = function(T, s)
      local p = priced(T, s, 1)
      local q = priced(T, s, 1, { device = "cpu" })
      local bound = rounding(s) + ((s.keys.precision or "double") == "double" and 0 or 1e-5 * scale(s))
      for k = 1, #p do T:near(("price %d on GPU and CPU"):format(k), p[k], q[k], bound) end
    end },
}

-- Greeks by two methods, and by Black's formula.
local greeks = { "delta", "gamma", "vega" }
local function greeks_of(r, n)
  local list = {}
  for _, g in ipairs(greeks) do
    local names = {}
    for column in pairs(r.tables.price or {}) do
      if column:match("^" .. g) and not column:match("_error$") then names[#names + 1] = column end
    end
    table.sort(names)
    for _, column in ipairs(names) do
      list[#list + 1] = { name = column, value = r:last("price", column), error = r:last("price", column .. "_error") }
    end
  end
  return list, n
end
M.twins[#M.twins + 1] = { name = "greeks", weight = 2,
  prepare = function(_, R) return { first = R.pick("pathwise", "likelihood", "auto"), gamma = R.chance(0.3) } end,
  check = function(T, s, a)
    local c = copy(s)
    c.keys.greeks = { delta = true, vega = true, gamma = a.gamma or nil, method = a.first }
    local _, _, r = priced(T, c, 1)
    local d = copy(c)
    d.keys.greeks.method = "bump"
    local _, _, q = priced(T, d, 2)
    local x, y = greeks_of(r), greeks_of(q)
    for k = 1, #x do
      -- Differences of relative width h have a bias of h^2 times a third derivative.
      T:sure(("%s by %s and by differences"):format(x[k].name, a.first), x[k].value, x[k].error, y[k].value, y[k].error,
        2e-3 * math.abs(x[k].value) + 1e-6)
    end
  end }

return M
