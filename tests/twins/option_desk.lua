-- Assets in other currencies, accumulators, and early exercise that sees the highest price so far, asked in two ways.
local scenario, ask = require "scenario", require "ask"
local E = require "option_exact"
local call, copy = scenario.call, scenario.copy
local g = scenario.number
local M = {}

-- ---- payoffs as functions -----------------------------------------------------------------------------------------

local function vanilla(put, x, K) return put and ("sim.max(%s - %s, 0)"):format(K, x) or ("sim.max(%s - %s, 0)"):format(x, K) end

-- The price that a payoff on asset i sees at a step: `at` is the text of what is asked of each asset's path.
local function seen(s, k, i, at)
  local by, text = s.keys.assets[i].currency, at:format(i)
  return k.exchange == "composite" and by and ("%s * %s"):format(text, at:format(by)) or text
end
local function fixing(s, k, i, step) return seen(s, k, i, "path.fixing[%d][" .. step .. "]") end

local function fold(f, list)
  local text = list[1]
  for j = 2, #list do text = ("sim.%s(%s, %s)"):format(f, text, list[j]) end
  return text
end

local function all_steps(s, k, i)
  local list = {}
  for step = 1, s.keys.steps or 1 do list[step] = fixing(s, k, i, step) end
  return list
end
-- Of the prices at the steps: the spot is none of them.
local function extreme(s, k, i, f) return fold(f, all_steps(s, k, i)) end

local text_of = {}
function text_of.european(s, k) return vanilla(k.type == "put", seen(s, k, k.asset, "path.last[%d]"), g(k.strike)) end
function text_of.digital(s, k)
  return ("sim.where(sim.%s(%s, %s), %s, 0)"):format(k.type == "put" and "lt" or "gt", seen(s, k, k.asset, "path.last[%d]"), g(k.strike), g(k.cash or 1))
end
function text_of.asian(s, k)
  local mean = seen(s, k, k.asset, "path.geometric[%d]")
  if k.average ~= "geometric" then
    local list = all_steps(s, k, k.asset)
    mean = ("(%s) / %d"):format(table.concat(list, " + "), #list)
  end
  return vanilla(k.type == "put", mean, g(k.strike))
end
function text_of.barrier(s, k)
  local low, high = k.low or k.direction ~= "up" and k.level, k.high or k.direction == "up" and k.level
  local lives = low and ("sim.gt(%s, %s)"):format(extreme(s, k, k.asset, "min"), g(low))
  if high then
    local below = ("sim.lt(%s, %s)"):format(extreme(s, k, k.asset, "max"), g(high))
    lives = lives and ("sim.all(%s, %s)"):format(lives, below) or below
  end
  local pay, rebate = text_of.european(s, k), g(k.rebate or 0)
  return ("sim.where(%s, %s, %s)"):format(lives, k.knock == "in" and rebate or pay, k.knock == "in" and pay or rebate)
end
text_of.double_barrier = text_of.barrier
function text_of.lookback(s, k)
  local put, last = k.type == "put", seen(s, k, k.asset, "path.last[%d]")
  if type(k.strike) == "number" then return vanilla(put, extreme(s, k, k.asset, put and "min" or "max"), g(k.strike)) end
  return put and ("%s - %s"):format(extreme(s, k, k.asset, "max"), last) or ("%s - %s"):format(last, extreme(s, k, k.asset, "min"))
end
function text_of.forward_start(s, k)
  return vanilla(k.type == "put", seen(s, k, k.asset, "path.last[%d]"), ("%s * %s"):format(g(k.moneyness or 1), fixing(s, k, k.asset, k.start)))
end
function text_of.spread(s, k)
  return vanilla(k.type == "put", ("(%s - %s)"):format(seen(s, k, k.asset, "path.last[%d]"), seen(s, k, k.second, "path.last[%d]")), g(k.strike))
end
local function of_several(s, k, f)
  local list = {}
  for i = 1, E.counted(s) do list[i] = seen(s, k, i, "path.last[%d]") end
  return vanilla(k.type == "put", f and fold(f, list) or ("(%s) / %d"):format(table.concat(list, " + "), #list), g(k.strike))
end
function text_of.basket(s, k) return of_several(s, k) end
function text_of.best_of(s, k) return of_several(s, k, "max") end
function text_of.worst_of(s, k) return of_several(s, k, "min") end

function text_of.rainbow(s, k)
  local list = {}
  for i = 1, E.counted(s) do list[i] = seen(s, k, i, "path.last[%d]") end
  return vanilla(k.type == "put", E.ranks(list, k.weights, g), g(k.strike))
end

-- ---- payments at several dates, carried to the maturity ----

local function dates_of(s, k)
  local n, dates = s.keys.steps or 1, {}
  for step = k.every or 1, n, k.every or 1 do dates[#dates + 1] = step end
  if dates[#dates] ~= n then dates[#dates + 1] = n end
  return dates
end
-- What money at a step is at the maturity, in the run's currency.
local function carried(s, k, step)
  local n, T = s.keys.steps or 1, s.keys.maturity
  local growth = E.discount(s, T * step / n) / E.discount(s, T)
  if k.exchange == "payment" then return ("%s * path.fixing[%d][%d]"):format(g(growth), s.keys.assets[k.asset].currency, step) end
  return g(growth * (k.exchange == "quanto" and k.exchange_rate or 1))
end

function text_of.autocallable(s, k)
  local n, cash, last, dates = s.keys.steps or 1, k.cash or 100, seen(s, k, k.asset, "path.last[%d]"), dates_of(s, k)
  local a = s.keys.assets[k.asset]
  local spot = a.spot * (k.exchange == "composite" and s.keys.assets[a.currency].spot or 1)
  local pay = ("sim.where(sim.lt(%s, %s), %s * %s / %s, %s) * %s"):format(last, g(k.protection), g(cash), last, g(spot), g(cash), carried(s, k, n))
  for d = #dates, 1, -1 do
    pay = ("sim.where(sim.lt(%s, %s), %s, %s * %s)"):format(fixing(s, k, k.asset, dates[d]), g(k.level), pay, g(cash * (1 + k.coupon * d)), carried(s, k, dates[d]))
  end
  return pay
end

-- A sum over the dates: each purchase where no date until then has reached the level.
function text_of.accumulator(s, k)
  local n, i, put, sum = s.keys.steps or 1, k.asset, k.type == "put", {}
  local dates, gearing = dates_of(s, k), k.gearing or 2
  for d, step in ipairs(dates) do
    local price = fixing(s, k, i, step)
    local delivery = k.settle == "maturity" and n or step
    local shares = ("sim.where(sim.%s(%s, %s), %s, %s)"):format(put and "gt" or "lt", price, g(k.strike), g(gearing * (k.shares or 1)), g(k.shares or 1))
    local gain = ("%s * (%s - %s) * %s"):format(shares, put and g(k.strike) or fixing(s, k, i, delivery), put and fixing(s, k, i, delivery) or g(k.strike), carried(s, k, delivery))
    if k.level and d > (k.guaranteed or 0) then
      local until_then = {}
      for j = 1, d do until_then[j] = fixing(s, k, i, dates[j]) end
      gain = put and ("sim.where(sim.gt(%s, %s), %s, 0)"):format(fold("min", until_then), g(k.level), gain) or
        ("sim.where(sim.lt(%s, %s), %s, 0)"):format(fold("max", until_then), g(k.level), gain)
    end
    sum[d] = gain
  end
  return table.concat(sum, " + ")
end

-- A named payoff as the text of a function, or nil.
function M.text(s, p)
  local k = p.keys
  if not text_of[p.name] or k.monitoring == "continuous" or k.dates or k.maturity then return nil end
  local text = text_of[p.name](s, k)
  if p.name == "accumulator" or p.name == "autocallable" then return text end
  if k.exchange == "quanto" then return ("%s * (%s)"):format(g(k.exchange_rate or 1), text) end
  if k.exchange ~= "payment" then return text end
  local by
  for i, a in ipairs(s.keys.assets) do if i == k.asset or not k.asset then by = by or a.currency end end
  return ("path.last[%d] * (%s)"):format(by, text)
end

-- ---- the twins ----------------------------------------------------------------------------------------------------

local function currency_of(s)
  for _, a in ipairs(s.keys.assets) do if a.currency then return a.currency end end
end
local function without(s, keep)
  local c = copy(s)
  c.keys.payoff, c.keys.payoffs = nil, {}
  for _, p in ipairs(s.keys.payoffs) do if keep(p) then c.keys.payoffs[#c.keys.payoffs + 1] = copy(p) end end
  if #c.keys.payoffs > 0 then return c end
  for i = #s.keys.assets, 1, -1 do
    local spot = s.keys.assets[i].spot
    if s.keys.assets[i].currency then
      c.keys.payoffs = { call("european", { strike = spot, asset = i, exchange = "quanto" }), call("asian", { strike = spot, type = "put", asset = i, exchange = "quanto" }),
        call("accumulator", { strike = 0.95 * spot, level = 1.1 * spot, asset = i, exchange = "payment" }) }
    end
  end
  if #c.keys.payoffs == 0 then error({ refused = "no payoff of that kind" }) end
  return c
end
-- The first asset in another currency that moves by constants; nil: none.
local function plain_asset(s)
  for i, a in ipairs(s.keys.assets) do
    if a.currency and type(a.vol) == "number" and type(a.dividend or 0) == "number" then return i end
  end
end
local outputs = { "none", "greeks", "exposure", "ladder" }

-- Every number of two runs' tables.
local function same_tables(T, r, q, factor, bound, skip)
  for name, columns in pairs(r.tables) do
    for column, values in pairs(name ~= "exposure_times" and columns or {}) do
      local other = q.tables[name] and q.tables[name][column]
      if other and not skip[column] then
        local scaled = {}
        for i, x in ipairs(other) do scaled[i] = factor(column) * x end
        T:near(("table %s, %s"):format(name, column), values, scaled, bound(name, column))
      end
    end
  end
end

function M.add(of)
  local priced, compare, rounding, scale = of.priced, of.compare, of.rounding, of.scale
  local function add(twin)
    twin.weight = twin.weight or 3
    of.twins[#of.twins + 1] = twin
  end
  local function has_currency(s) return currency_of(s) ~= nil and #(s.keys.payoffs or {}) > 0 end

  -- A converted payment is worth today's rate times the contract in its own market.
  add { name = "own market", weight = 5,
    applies = has_currency,
    prepare = function(s, R)
      local T, spot = s.keys.maturity, s.keys.assets[1].spot
      return { cash = R.chance(0.3) and { { T * R.uniform(0.2, 0.8), spot * R.uniform(0.005, 0.03) } } or nil, own = R.chance(0.3), levels = R.chance(0.25) }
    end,
    check = function(T, s, a)
      local by = currency_of(s)
      local c = without(s, function(p)
        local k = p.keys
        if p.name == "autocallable" and not k.asset or k.monitoring then return false end
        for i, x in ipairs(s.keys.assets) do
          if (i == k.asset or i == k.second or not k.asset and i < by) and not x.currency then return false end
        end
        return true
      end)
      for _, p in ipairs(c.keys.payoffs) do
        p.keys.exchange, p.keys.exchange_rate = "payment", nil
        if a.own and p.name ~= "forward_start" then
          p.keys.maturity = 0.75 * s.keys.maturity
          if p.keys.every or p.name == "asian" or p.name:find("barrier") or p.name == "lookback" then p.keys.every, p.keys.dates = nil, { 0.4 * s.keys.maturity, 0.75 * s.keys.maturity } end
        end
      end
      if a.cash then
        c.keys.assets[1].dividends = a.cash
      end
      c.keys.sampling.control = nil
      local steps_matter = false
      for _, x in ipairs(c.keys.assets) do steps_matter = steps_matter or not x.vol end
      a.levels = a.levels and steps_matter
      if a.levels then
        c.keys.sampling = { multilevel = true, standard_error = 2e-3 * scale(s), paths = 2 ^ 20 }
        c.keys.greeks = nil
      end
      local d = E.own_market(c, by)
      for _, p in ipairs(d.keys.payoffs) do p.keys.exchange = nil end
      local p, e = priced(T, c, 1)
      local q, f = priced(T, d, 2)
      local rate = s.keys.assets[by].spot
      if a.levels then d.keys.sampling.standard_error = d.keys.sampling.standard_error / rate end
      for k = 1, #p do T:sure(("payoff %d, converted, and in its own market"):format(k), p[k], e[k], rate * q[k], rate * f[k], a.levels and 1e-3 * scale(s) * math.max(1, rate) or 0) end
    end }

  -- On the same paths: a quanto, and a payoff on an asset whose dividend has the covariance.
  add { name = "quanto and dividend", weight = 5,
    applies = function(s)
      return has_currency(s) and plain_asset(s) and type(s.keys.rate) == "number" and type(s.keys.assets[currency_of(s)].vol) == "number" and
        type(s.keys.assets[currency_of(s)].dividend or 0) == "number"
    end,
    prepare = function(s, R)
      return { output = R.pick(table.unpack(outputs)), rate = R.log(0.5, 2), at = s.keys.maturity * R.uniform(0.2, 0.8), american = R.chance(0.4), exercise = R.chance(0.5), method = R.pick("auto", "bump") }
    end,
    check = function(T, s, a)
      local by = currency_of(s)
      local x, c, i = s.keys.assets[by], copy(s), plain_asset(s)
      if not i then error({ refused = "no such asset" }) end
      c.keys.payoff, c.keys.payoffs = nil, { call("european", { strike = s.keys.assets[i].spot, asset = i, exchange = "quanto" }) }
      for _, p in ipairs(s.keys.payoffs) do if p.keys.asset == i and not p.keys.second then c.keys.payoffs[1] = copy(p) end end
      local k = c.keys.payoffs[1].keys
      if k.exchange == "composite" and k.strike then k.strike = k.strike / x.spot end
      for _, name in ipairs { "level", "low", "high", "protection" } do if k.exchange == "composite" and k[name] then k[name] = k[name] / x.spot end end
      k.name, k.exchange, k.exchange_rate = nil, "quanto", a.rate
      if a.american and s.keys.steps > 1 then
        c.keys.payoffs = { call("american", { strike = c.keys.assets[i].spot, type = "put", asset = i, exchange = "quanto", exchange_rate = a.rate, fit_paths = 4096 }) }
        k = c.keys.payoffs[1].keys
      end
      c.keys.sampling.control = nil
      if a.output == "greeks" then c.keys.greeks = { delta = true, gamma = true, theta = true, method = a.method } end
      if a.output == "exposure" then c.keys.exposure = { dates = { a.at }, paths = 2 ^ 12, fit_paths = 2 ^ 12, hazard = 0.02 } end
      if a.output == "ladder" then c.keys.ladder = { spot = { -0.1, 0 }, time = (k.dates or k.every) and nil or { 0, 0.1 } } end
      local d = copy(c)
      local one, rho = d.keys.assets[i], s.keys.correlation and s.keys.correlation[i][by] or 0
      one.dividend = (one.dividend or 0) + s.keys.rate - (x.dividend or 0) + rho * one.vol * x.vol
      one.currency = nil
      d.keys.payoffs[1].keys.exchange, d.keys.payoffs[1].keys.exchange_rate = nil, nil
      -- Other assets in the currency stay so: no payoff sees them.
      local _, _, r = priced(T, c, 1)
      local _, _, q = priced(T, d, 1)
      local near = (rounding(c) + 1e-9 * scale(c)) * math.max(1, a.rate)
      -- Greeks by the path are those of differences within their errors; by the same method they have the same paths.
      same_tables(T, r, q, function() return a.rate end,
        function(_, column) return near * ((column:find("delta") or column:find("gamma") or column:find("theta")) and 1e6 or 100) end,
        { step = true, time = true, paths = true, relative_error = true })
      if a.output == "ladder" then
        local u, v = host.read(r.dir .. "/ladder.h5"), host.read(q.dir .. "/ladder.h5")
        for i = 1, #u.price do T:near("a point of the ladder", u.price[i], a.rate * v.price[i], 100 * near) end
      end
    end }

  -- Another unit of a currency: its price, strikes of converted prices and fixed rates are c times as large.
  add { name = "unit of a currency",
    applies = has_currency,
    prepare = function(_, R) return { output = R.pick(table.unpack(outputs)) } end,
    check = function(T, s, a)
      local by, unit = currency_of(s), 8
      local c = without(s, function(p) return p.keys.exchange ~= nil and (p.keys.asset or p.keys.exchange ~= "composite") and not p.keys.second end)
      c.keys.sampling.control = nil
      if a.output == "greeks" then c.keys.greeks = { delta = true, vega = true, rho = true, theta = true } end
      if a.output == "ladder" then c.keys.ladder = { spot = { -0.1, 0 } } end
      local d = copy(c)
      d.keys.assets[by].spot = unit * d.keys.assets[by].spot
      for _, p in ipairs(d.keys.payoffs) do
        local k = p.keys
        if k.exchange == "quanto" then k.exchange_rate = unit * (k.exchange_rate or 1) end
        if k.exchange == "composite" then
          for _, name in ipairs { "strike", "level", "low", "high", "protection", "rebate" } do if k[name] then k[name] = unit * k[name] end end
          if p.name == "digital" then k.cash = unit * (k.cash or 1) end
          if p.name == "autocallable" then k.cash = unit * (k.cash or 100) end
        end
      end
      local p, e, r = priced(T, c, 1)
      local q, f, u = priced(T, d, 1)
      for k = 1, #p do
        T:near("prices in another unit of a currency", p[k], q[k] / unit, 100 * rounding(c))
        T:near("errors in another unit of a currency", e[k], f[k] / unit, 100 * rounding(c))
      end
      if a.output == "greeks" then
        for _, greek in ipairs { "delta", "vega", "rho", "theta" } do
          for i = 1, #s.keys.assets do
            local column = greek .. ((greek == "rho" or greek == "theta") and "" or "_" .. i)
            local x, y = r:last("price", column), u:last("price", column)
            if x and y then T:near(column .. " in another unit of a currency", x, y / (greek == "delta" and i == by and 1 or unit), 1e6 * rounding(c)) end
          end
        end
      end
    end }

  -- Exercise at maturity alone is a lookback; early exercise is worth no less, and the same in a book and alone.
  add { name = "highest price and exercise",
    applies = function(s) return s.keys.steps > 1 and s.keys.precision ~= "mixed" and ask.knows("option", "accumulator") end,
    prepare = function(s, R)
      local i = R.int(1, #s.keys.assets)
      return { i = i, strike = s.keys.assets[i].spot * R.uniform(0.8, 1.1), every = R.pick(1, 1, 2), output = R.pick("none", "greeks", "ladder", "exposure", "threads"), rate = R.uniform(0.02, 0.15) }
    end,
    check = function(T, s, a)
      local c, n, i = copy(s), s.keys.steps or 1, a.i
      local asset_of = s.keys.assets[i]
      if not asset_of then error({ refused = "fewer assets" }) end
      c.keys.payoff, c.keys.sampling.control = nil, nil
      local by = asset_of.currency
      local money = by and ("path.last[%d] * "):format(by) or ""
      local every = n % a.every == 0 and a.every or 1
      local function early(step)
        return call("american", { exercise = scenario.fn(("function(path) return %ssim.max(path.max[%d] - %%g, 0) end"):format(money, i), a.strike), every = step, fit_paths = 4096 })
      end
      c.keys.payoffs = { early(n), call("lookback", { strike = a.strike, asset = i, exchange = by and "payment" or nil }), early(every) }
      if a.output == "greeks" then c.keys.greeks = { delta = true, vega = true, rho = true } end
      if a.output == "ladder" then c.keys.ladder = { spot = { -0.05, 0 } } end
      local p, e, r = priced(T, c, 1)
      T:near("exercise at maturity alone and a lookback", p[1], p[2], rounding(c))
      if p[3] < p[2] - 5 * (e[2] + e[3]) - 0.03 * p[2] then T:disagree("early exercise of the highest price", "%g below %g", p[3], p[2]) end
      if a.output == "greeks" then
        for _, name in ipairs { "deltas", "vegas" } do
          for j = 1, #s.keys.assets do
            local column = #s.keys.assets > 1 and "_" .. j or ""
            local x, y = r:last(name, "payoff_1" .. column), r:last(name, "payoff_2" .. column)
            local f = r:last(name:sub(1, -2) .. "_errors", "payoff_1" .. column) or 0
            if name == "deltas" and j == by and r:last(name, "payoff_3" .. column) then
              T:near("a delta by the rate of exchange and the price", r:last(name, "payoff_3" .. column) * s.keys.assets[j].spot, p[3], 1e4 * rounding(c) + 1e-9 * math.abs(p[3]))
            end
            if x and y then T:sure(name .. column .. " of exercise at maturity and of a lookback", x, f, y, r:last(name:sub(1, -2) .. "_errors", "payoff_2" .. column) or 0, 2e-3 * math.abs(x) + 1e-6) end
          end
        end
      elseif a.output == "ladder" then
        local ladder = host.read(r.dir .. "/ladder.h5").price
        for point = 1, 2 do T:near("a point of the ladder", ladder[point], ladder[2 + point], 100 * rounding(c)) end
      elseif a.output == "threads" then
        local d = copy(c)
        d.keys.payoffs = { c.keys.payoffs[3] }
        local alone = priced(T, d, 1)
        T:near("a rule in a book and alone", alone[1], p[3], rounding(c))
        local _, _, q = priced(T, c, 1, { words = { "--ranks", "2" } })
        T:same("digests of one and two ranks", r.digest, q.digest)
      end
    end }
end

return M
