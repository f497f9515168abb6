-- Dates of payoffs that are not steps, maturities of their own, and cash dividends, asked in two ways. `option` has the
-- twins that hold for any scenario, and `prices`, `priced` and `compare`.
local scenario = require "scenario"
local E = require "option_exact"
local call, fn, copy = scenario.call, scenario.fn, scenario.copy
local M = {}

local listed = { asian = true, barrier = true, double_barrier = true, lookback = true, american = true, autocallable = true, accumulator = true }

local function each_payoff(s, change) for _, p in ipairs(s.keys.payoffs or {}) do change(p.keys, p.name) end end

-- In a scenario whose first asset is in another currency, its payoffs are quantos.
local function quantos(c)
  for _, p in ipairs(c.keys.payoffs) do if c.keys.assets[p.keys.asset or 1].currency then p.keys.exchange = p.keys.exchange or "quanto" end end
end

-- Removes controls that dates exclude, and the function, whose prices are at the steps.
local function prepared(s)
  local c = copy(s)
  c.keys.payoff = nil
  if c.keys.sampling and c.keys.sampling.control == "geometric" then c.keys.sampling.control = "underlying" end
  return c
end

-- A contract that has begun, and a barrier that is watched for part of the time.
local function begun(k, name, last, spot, R)
  if not R.chance(0.4) then return end
  if name == "asian" then
    k.past = {}
    for i = 1, R.int(1, 4) do k.past[i] = spot * R.uniform(0.8, 1.2) end
  elseif name == "lookback" then
    k.extreme = spot * R.uniform(0.9, 1.1)
  elseif name == "autocallable" then
    k.initial, k.passed = spot * R.uniform(0.8, 1.2), R.int(0, 3)
  elseif name == "barrier" and k.monitoring == "continuous" then
    if R.chance(0.7) then k.from = last * R.uniform(0.1, 0.4) end
    if R.chance(0.7) then k.to = last * R.uniform(0.5, 1) end
  end
end

-- Dates, maturities and dividends drawn by the seed.
local function dated(s, R, cash)
  local c = prepared(s)
  local T = s.keys.maturity
  each_payoff(c, function(k, name)
    k.name = nil
    if R.chance(0.5) and name ~= "forward_start" then k.maturity = T * R.uniform(0.5, 1) end
    local last = k.maturity or T
    if listed[name] and k.monitoring ~= "continuous" then
      k.dates, k.every = {}, nil
      local n = R.int(1, 5)
      for i = 1, n do k.dates[i] = last * (i - R.uniform(0.1, 0.9)) / n end
      if R.chance(0.5) then k.dates[n] = last end
    end
    if name == "forward_start" then k.start, k.start_time = nil, last * R.uniform(0.1, 0.9) end
    begun(k, name, last, c.keys.assets[k.asset or 1].spot, R)
  end)
  if cash and R.chance(0.4) then
    local a = c.keys.assets[R.int(1, #c.keys.assets)]
    a.dividends = { { T * R.uniform(0.1, 0.4), a.spot * R.uniform(0.005, 0.04) }, { T * R.uniform(0.5, 1), a.spot * R.uniform(0.005, 0.04) } }
    if c.keys.sampling then c.keys.sampling.control = nil end
    each_payoff(c, function(k) if k.monitoring then k.monitoring, k.from, k.to = nil, nil, nil; k.dates = { T / 3, T / 2 }; k.maturity = nil end end)
  end
  return c
end

function M.add(option)
  local priced, compare, rounding, scale = option.priced, option.compare, option.rounding, option.scale
  local some = function(s) return #(s.keys.payoffs or {}) > 0 end
  local list = {}

  list[#list + 1] = { name = "dates and steps", weight = 2, applies = some,
    check = function(T, s)
      local c = prepared(s)
      local n = s.keys.steps or 1
      s = copy(c)
      each_payoff(c, function(k, name)
        if not listed[name] or k.monitoring == "continuous" then return end
        k.dates = {}
        for i = k.every or 1, n, k.every or 1 do k.dates[#k.dates + 1] = s.keys.maturity * i / n end
        k.every = nil
      end)
      each_payoff(c, function(k, name)
        if name == "forward_start" then k.start_time, k.start = s.keys.maturity * k.start / n, nil end
      end)
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 1)
      for k = 1, #p do
        T:near("a price at steps and at dates", p[k], q[k], rounding(s))
        T:near("its standard error", e[k], f[k], rounding(s))
      end
    end }

  list[#list + 1] = { name = "book of maturities", weight = 2, applies = some,
    check = function(T, s)
      s = prepared(s)
      local c = copy(s)
      c.keys.maturity, c.keys.steps = 2 * s.keys.maturity, 2 * (s.keys.steps or 1)
      each_payoff(c, function(k) k.maturity = s.keys.maturity end)
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "a run and a longer one with maturities", p, e, q, f)
    end }

  list[#list + 1] = { name = "a neighbour with dates", weight = 2,
    applies = function(s) return some(s) and option.free_of_steps(s) end,
    prepare = function(s, R) return { dates = { s.keys.maturity * R.uniform(0.05, 0.4), s.keys.maturity * R.uniform(0.5, 0.9) } } end,
    check = function(T, s, a)
      s = prepared(s)
      if not option.free_of_steps(s) then error({ refused = "steps matter" }) end
      local c = copy(s)
      c.keys.payoffs[#c.keys.payoffs + 1] = call("asian", { strike = s.keys.assets[1].spot, dates = a.dates })
      quantos(c)
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      table.remove(q)
      table.remove(f)
      compare(T, "without and with another payoff's dates", p, e, q, f)
    end }

  list[#list + 1] = { name = "cash dividends", weight = 2,
    prepare = function(s, R)
      local spot, T = s.keys.assets[1].spot, s.keys.maturity
      return { { T * R.uniform(0.1, 0.4), spot * R.uniform(0.002, 0.02) }, { T * R.uniform(0.5, 0.9), spot * R.uniform(0.002, 0.02) } }
    end,
    check = function(T, s, a)
      local c = prepared(s)
      local one, K = c.keys.assets[1], s.keys.assets[1].spot
      if one.currency then error({ refused = "a forward in another currency" }) end
      if c.keys.sampling then c.keys.sampling.control = nil end
      one.dividends = a
      c.keys.payoff = fn("function(path) return path.last[1] end")
      c.keys.payoffs = { call("european", { strike = K }), call("european", { strike = K, type = "put" }) }
      local p, e = priced(T, c, 1)
      T:near("call less put and the price less the strike", p[2] - p[3], p[1] - K * E.discount(s), rounding(c))
      -- No price falls below the amounts except with negligible probability: of 2 %, at 50 % volatility over three
      -- years.
      local known = E.forward(s, one)
      for _, d in ipairs(a) do known = known - d[2] * E.forward(s, one) / E.forward(s, one, d[1]) end
      T:sure("the mean with cash dividends", p[1], e[1], known * E.discount(s), 0, scale(s) * 1e-6)
    end }

  list[#list + 1] = { name = "Greeks of dates", weight = 2, applies = some,
    prepare = function(s, R) return { dated = dated(s, R, true), theta = R.chance(0.5) } end,
    check = function(T, _, a)
      local c = copy(a.dated)
      c.keys.greeks = { delta = true, vega = true, rho = true, theta = a.theta or nil }
      local _, _, r = priced(T, c, 1)
      local d = copy(c)
      d.keys.greeks.method = "bump"
      local _, _, q = priced(T, d, 2)
      for _, name in ipairs { "delta", "vega", "rho", "theta" } do
        local x, y = r:last("price", name), q:last("price", name)
        if x and y then
          T:sure(name .. " of its own and by differences", x, r:last("price", name .. "_error"), y, q:last("price", name .. "_error"),
            2e-3 * math.abs(x) + 1e-6)
        end
      end
    end }

  -- By the same paths: means and extremes of the past by other strikes, coupons in proportion, out and in together.
  list[#list + 1] = { name = "contracts that have begun", weight = 2,
    prepare = function(s, R)
      local T, spot = s.keys.maturity, s.keys.assets[1].spot
      local n = R.int(1, 4)
      local a = { dates = {}, past = {}, last = T * R.uniform(0.8, 1), spot = spot, strike = spot * R.uniform(0.9, 1.1), from = T * R.uniform(0.1, 0.4),
        to = T * R.uniform(0.5, 0.8), type = R.chance(0.5) and "put" or nil, passed = R.int(1, 4) }
      for i = 1, n do a.dates[i] = a.last * (i - R.uniform(0.1, 0.9)) / n end
      for i = 1, R.int(1, 4) do a.past[i] = spot * R.uniform(0.9, 1.1) end
      a.extreme = a.type and a.strike * R.uniform(0.8, 1) or a.strike * R.uniform(1, 1.2)
      return a
    end,
    check = function(T, s, a)
      local c = prepared(s)
      if c.keys.sampling then c.keys.sampling.control = nil end
      local n, m, sum = #a.dates, #a.past, 0
      for _, x in ipairs(a.past) do sum = sum + x end
      local other = ((n + m) * a.strike - sum) / n
      if other <= 0 then error({ refused = "the past is above the strike" }) end
      local function asian(K, past) return call("asian", { strike = K, type = a.type, dates = a.dates, maturity = a.last, past = past }) end
      local function look(K, extreme) return call("lookback", { strike = K, type = a.type, dates = a.dates, maturity = a.last, extreme = extreme }) end
      local function note(passed)
        return call("autocallable", { level = a.spot, coupon = 0.05, protection = 0.8 * a.spot, initial = a.strike, passed = passed, dates = a.dates, maturity = a.last })
      end
      c.keys.payoffs = { asian(a.strike, a.past), asian(other), look(a.strike, a.extreme), look(a.extreme), note(), note(1), note(a.passed),
        call("digital", { strike = 1e-6 * a.spot, maturity = a.last }) }
      local near = rounding(c)
      if not c.keys.assets[1].jumps then
        for _, knock in ipairs { "out", "in" } do
          c.keys.payoffs[#c.keys.payoffs + 1] = call("barrier", { strike = a.strike, type = a.type, level = 0.9 * a.spot, knock = knock,
            monitoring = "continuous", from = a.from, to = a.to, maturity = a.last })
        end
        c.keys.payoffs[#c.keys.payoffs + 1] = call("european", { strike = a.strike, type = a.type, maturity = a.last })
      end
      quantos(c)
      local p = priced(T, c, 1)
      local k = #p - #c.keys.payoffs
      T:near("a mean with a past and one of another strike", p[k + 1], p[k + 2] * n / (n + m), near)
      T:near("an extreme and one of another strike", p[k + 3], p[k + 4] + math.abs(a.extreme - a.strike) * p[k + 8], near)
      T:near("coupons of dates that have passed", p[k + 7] - p[k + 5], a.passed * (p[k + 6] - p[k + 5]), a.passed * near)
      if #c.keys.payoffs > 8 then T:near("out and in of a window", p[k + 9] + p[k + 10], p[k + 11], near) end
    end }

  -- On the same paths: a swap and the function that squares the changes of the logarithm; the same of a strike of 0.
  list[#list + 1] = { name = "swaps and a function", weight = 2,
    prepare = function(_, R) return { n = R.int(1, 8), strike = R.uniform(5, 60), per_year = R.chance(0.5) and R.uniform(1, 300) or nil } end,
    check = function(T, s, a)
      if s.keys.assets[1].sabr then error({ refused = "paths that end at zero, where the digital pays nothing" }) end
      local c = prepared(s)
      for _, asset in ipairs(c.keys.assets) do asset.dividends = nil end
      if c.keys.sampling then c.keys.sampling.control = nil end
      local function swap(name, K) return call(name, { strike = K, per_year = a.per_year }) end
      c.keys.steps, c.keys.precision, c.keys.greeks = a.n, "double", nil
      c.keys.payoffs = { swap("variance_swap", a.strike), swap("variance_swap", 0), swap("volatility_swap", a.strike), swap("volatility_swap", 0),
        call("digital", { strike = 1e-9 * s.keys.assets[1].spot }) }
      c.keys.payoff = fn("function(path) local sum, last = 0, %g for k = 1, %g do sum, last = sum + math.log(path.fixing[1][k] / last)^2, path.fixing[1][k] end return %g * sum end",
        s.keys.assets[1].spot, a.n, 1e4 * (a.per_year and a.per_year / a.n or 1 / s.keys.maturity))
      quantos(c)
      local p = priced(T, c, 1)
      local near = 1e-9 * math.max(1, math.abs(p[1]))
      T:near("a swap and a function", p[3], p[1], near)
      T:near("a variance swap and one of strike 0", p[2], p[3] - a.strike^2 * p[6], near + 1e-9 * a.strike^2)
      T:near("a volatility swap and one of strike 0", p[4], p[5] - a.strike * p[6], near + 1e-9 * a.strike)
    end }

  -- Without dates the difference is of the same paths.
  list[#list + 1] = { name = "theta and two maturities",
    check = function(T, s)
      local c = prepared(s)
      if c.keys.sampling then c.keys.sampling.control = nil end
      c.keys.payoffs, c.keys.greeks = { call("european", { strike = s.keys.assets[1].spot }) }, { theta = true, method = "bump" }
      c.keys.steps, c.keys.precision = s.keys.steps or 4, "double"
      quantos(c)
      local _, _, r = priced(T, c, 1)
      local price = {}
      for i, share in ipairs { 1.001, 0.999 } do
        local d = copy(c)
        d.keys.maturity, d.keys.greeks = share * s.keys.maturity, nil
        price[i] = priced(T, d, 1)[1]
      end
      local h = 0.002 * s.keys.maturity
      T:near("theta and a difference of prices", r:last("price", "theta"), (price[2] - price[1]) / h, (rounding(c) + 1e-9 * scale(s)) / h)
    end }

  list[#list + 1] = { name = "rows from files",
    prepare = function(s, R)
      local T = s.keys.maturity
      return { points = { { 0, R.uniform(0, 0.05) }, { T * R.uniform(0.1, 0.4), R.uniform(0, 0.05) }, { T * R.uniform(0.5, 1.2), R.uniform(0, 0.05) } },
        dates = { T * R.uniform(0.1, 0.4), T * R.uniform(0.5, 0.9), T }, cash = { { T * R.uniform(0.2, 0.8), s.keys.assets[1].spot * 0.02 } } }
    end,
    check = function(T, s, a)
      local function text(rows)
        local lines = { "# a file of rows" }
        for _, row in ipairs(rows) do
          lines[#lines + 1] = type(row) == "table" and scenario.number(row[1]) .. ", " .. scenario.number(row[2]) or scenario.number(row)
        end
        return table.concat(lines, "\n") .. "\n"
      end
      s = prepared(s)
      if s.keys.sampling then s.keys.sampling.control = nil end
      s.keys.assets[1].dividends, s.keys.payoffs = a.cash, { call("asian", { strike = s.keys.assets[1].spot, dates = a.dates }) }
      quantos(s)
      local c = copy(s)
      s.keys.rate = fn("sim.curve { {%g, %g}, {%g, %g}, {%g, %g} }", a.points[1][1], a.points[1][2], a.points[2][1], a.points[2][2], a.points[3][1], a.points[3][2])
      c.keys.rate, c.keys.assets[1].dividends, c.keys.payoffs[1].keys.dates = "rate.csv", "cash.csv", "dates.txt"
      T:file("rate.csv", text(a.points))
      T:file("cash.csv", text(a.cash))
      T:file("dates.txt", text(a.dates))
      local p, e, r = priced(T, s, 1)
      local q, f, r2 = priced(T, c, 1)
      T:same("digests of rows in the scenario and in files", r.digest, r2.digest)
      T:near("prices", p, q, 0)
    end }

  -- What holds for any scenario, with dates.
  for _, twin in ipairs(option.twins) do
    if twin.name == "threads" or twin.name == "sampling" or twin.name == "precision" or twin.name == "resumed" or twin.name == "errors" or
      twin.name == "bias of the steps" then
      list[#list + 1] = { name = "dates: " .. twin.name,
        applies = function(s) return some(s) and (not twin.applies or twin.applies(s)) end,
        prepare = function(s, R)
          local a = twin.prepare and twin.prepare(s, R) or {}
          a.dated = dated(s, R, not a.control)
          return a
        end,
        check = function(T, _, a) return twin.check(T, a.dated, a) end }
    end
  end
  for _, twin in ipairs(list) do option.twins[#option.twins + 1] = twin end
end

return M
