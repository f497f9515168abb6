-- The value of a named payoff by a formula, and as the text of a function.
local scenario, F = require "scenario", require "formulas"
local M = {}

-- Constant volatility and no jumps: bridges are exact.
local function constant(a) return type(a.vol) == "number" and not a.jumps end

local function integral_of(v, to, power)
  local f = F.value(v or 0)
  if type(v) == "number" or v == nil then return f(0) ^ power * to end
  return F.integral(function(t) return f(t) ^ power end, 0, to, v.breaks)
end
local function discount(s, t) return math.exp(-integral_of(s.keys.rate, t or s.keys.maturity, 1)) end
-- The mean price of an asset; nil: of one in another currency whose model has no formula.
local function forward(s, a, t)
  t = t or s.keys.maturity
  if not a.currency then return a.spot * math.exp(integral_of(s.keys.rate, t, 1) - integral_of(a.dividend, t, 1)) end
  local by, at, rho = s.keys.assets[a.currency], 0, 0
  for i, x in ipairs(s.keys.assets) do if rawequal(x, a) then at = i end end
  if s.keys.correlation then rho = s.keys.correlation[at][a.currency] end
  if not a.vol or rho ~= 0 and (type(a.vol) ~= "number" or type(by.vol) ~= "number") then return nil end
  local covariance = rho == 0 and 0 or rho * a.vol * by.vol * t
  return a.spot * math.exp(integral_of(by.dividend, t, 1) - integral_of(a.dividend, t, 1) - covariance)
end

-- The scenario in the market of a currency, whose price is the last asset: without that.
local function own_market(s, currency)
  local c = scenario.copy(s)
  c.keys.rate = c.keys.assets[currency].dividend or 0
  c.keys.assets[currency] = nil
  for _, a in ipairs(c.keys.assets) do a.currency = nil end
  for _, row in pairs(c.keys.correlation or {}) do row[currency] = nil end
  if c.keys.correlation then c.keys.correlation[currency] = nil end
  return c
end

-- The price of a named payoff where a formula is known, else nil.
local exact
local function exchanged(s, p)
  local k = scenario.copy(p.keys)
  local how, rate = k.exchange, k.exchange_rate or 1
  local i = k.asset
  k.exchange, k.exchange_rate = nil, nil
  if not i or k.second then return nil end
  local a = s.keys.assets[i]
  local by = s.keys.assets[a.currency]
  local rho = s.keys.correlation and s.keys.correlation[i][a.currency] or 0
  local c = own_market(s, a.currency)
  if how == "payment" then
    local value = exact(c, scenario.call(p.name, k))
    return value and by.spot * value
  end
  for _, x in ipairs { s.keys.rate, a.vol, a.dividend or 0, by.vol, by.dividend or 0 } do if type(x) ~= "number" then return nil end end
  if not a.vol then return nil end
  local one = c.keys.assets[i]
  c.keys.rate = s.keys.rate
  if how == "quanto" then
    one.dividend = (a.dividend or 0) + s.keys.rate - (by.dividend or 0) + rho * a.vol * by.vol
  else
    if a.jumps or by.jumps then return nil end
    one.spot, one.vol = a.spot * by.spot, math.sqrt(a.vol ^ 2 + by.vol ^ 2 + 2 * rho * a.vol * by.vol)
  end
  local value = exact(c, scenario.call(p.name, k))
  return value and (how == "quanto" and rate or 1) * value
end

function exact(s, p)
  if p.keys.exchange then return exchanged(s, p) end
  local k, T = p.keys, s.keys.maturity
  local a = s.keys.assets[k.asset or 1]
  if not a or not a.vol or a.currency then return nil end
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
  elseif #s.keys.assets == 1 and (p.name == "basket" and not k.weights or p.name == "best_of" or p.name == "worst_of") then
    return jumping(function(f, v) return F.black(put, f, v, k.strike, D) end)
  elseif p.name == "forward_start" and not a.jumps then
    -- The price at the start is independent of the growth from then on (Rubinstein 1991).
    local t = T * k.start / s.keys.steps
    return forward(s, a, t) * F.black(put, fwd / forward(s, a, t), var - integral_of(a.vol, t, 2), k.moneyness or 1, D)
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
  if (p.name == "barrier" or p.name == "double_barrier") and k.monitoring == "continuous" then
    local low, high = k.low, k.high
    if p.name == "barrier" then low, high = k.direction ~= "up" and k.level or nil, k.direction == "up" and k.level or nil end
    local out = F.knock_out(put, a.spot, k.strike, r, q, a.vol, T, low, high)
    local alive = F.alive(a.spot, r, q, a.vol, T, low, high)
    local rebate = D * (k.rebate or 0)
    return k.knock == "in" and F.black(put, fwd, var, k.strike, D) - out + rebate * alive or out + rebate * (1 - alive)
  elseif p.name == "lookback" and k.monitoring == "continuous" and type(k.strike) ~= "number" then
    local high, low = F.extremes(a.spot, r, q, a.vol, T)
    return D * (put and high - fwd or fwd - low)
  end
end

-- Assets that baskets and the best of all count: not the rate of exchange, which is the last.
function M.counted(s)
  for _, a in ipairs(s.keys.assets) do if a.currency then return #s.keys.assets - 1 end end
  return #s.keys.assets
end

-- The weighted ranks of two or three prices: the middle one is what the highest and the lowest leave of the sum.
function M.ranks(list, weights, g)
  local function of(f)
    local x = list[1]
    for j = 2, #list do x = ("sim.%s(%s, %s)"):format(f, x, list[j]) end
    return x
  end
  local high, low = of("max"), of("min")
  local sum = ("%s * %s + %s * %s"):format(g(weights[1]), high, g(weights[#list]), low)
  if #list == 2 then return "(" .. sum .. ")" end
  return ("(%s + %s * (%s - %s - %s))"):format(sum, g(weights[2]), table.concat(list, " + "), high, low)
end

local function named_as_text(s, p)
  local k = p.keys
  if k.exchange or p.name == "accumulator" then return require("option_desk").text(s, p) end
  local i, put = k.asset or 1, k.type == "put"
  local g = scenario.number
  local function vanilla(x, K) return put and ("sim.max(%s - %s, 0)"):format(K, x) or ("sim.max(%s - %s, 0)"):format(x, K) end
  local last = ("path.last[%d]"):format(i)
  if p.name == "european" then return vanilla(last, g(k.strike)) end
  if p.name == "digital" then return ("sim.where(sim.%s(%s, %s), %s, 0)"):format(put and "lt" or "gt", last, g(k.strike), g(k.cash or 1)) end
  if p.name == "asian" then return vanilla(("path.%s[%d]"):format(k.average == "geometric" and "geometric" or "mean", i), g(k.strike)) end
  if p.name == "barrier" or p.name == "double_barrier" then
    local bridged = k.monitoring == "continuous"
    local low = ("sim.gt(path.%s[%d], %s)"):format(bridged and "low" or "min", i, g(k.low or k.level))
    local high = ("sim.lt(path.%s[%d], %s)"):format(bridged and "high" or "max", i, g(k.high or k.level))
    local lives = p.name == "double_barrier" and ("sim.all(%s, %s)"):format(low, high) or k.direction == "up" and high or low
    local pay, rebate = vanilla(last, g(k.strike)), g(k.rebate or 0)
    -- A continuous single barrier is a probability, where the function sees a path's own maximum or minimum.
    return ("sim.where(%s, %s, %s)"):format(lives, k.knock == "in" and rebate or pay, k.knock == "in" and pay or rebate),
      bridged and p.name == "barrier"
  end
  if p.name == "forward_start" then
    local strike = ("%s * path.fixing[%d][%d]"):format(g(k.moneyness or 1), i, k.start)
    return put and ("sim.max(%s - %s, 0)"):format(strike, last) or ("sim.max(%s - %s, 0)"):format(last, strike)
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
    for j = 1, M.counted(s) do sum[j] = ("path.last[%d]"):format(j) end
    return vanilla(("(%s)/%d"):format(table.concat(sum, " + "), #sum), g(k.strike))
  end
  if p.name == "best_of" or p.name == "worst_of" then
    local picked = "path.last[1]"
    for j = 2, M.counted(s) do
      picked = ("sim.%s(%s, path.last[%d])"):format(p.name == "best_of" and "max" or "min", picked, j)
    end
    return vanilla(picked, g(k.strike))
  end
  if p.name == "rainbow" then
    local list = {}
    for j = 1, M.counted(s) do list[j] = ("path.last[%d]"):format(j) end
    return vanilla(M.ranks(list, k.weights, g), g(k.strike))
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

M.own_market, M.integral_of = own_market, integral_of
M.constant, M.discount, M.forward, M.exact, M.named_as_text = constant, discount, forward, exact, named_as_text
return M
