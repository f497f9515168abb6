-- The ways to ask for prices of options.
local scenario, F, ask = require "scenario", require "formulas", require "ask"
local draw, E = require "option_draw", require "option_exact"
local call, fn, copy = scenario.call, scenario.fn, scenario.copy
local asset, control = draw.asset, draw.control
local constant, discount, forward, exact, named_as_text = E.constant, E.discount, E.forward, E.exact, E.named_as_text
local M = { name = "option", draw = draw.draw }

local of_all = { basket = true, best_of = true, worst_of = true, rainbow = true } -- payoffs of all assets

-- ---- helpers ------------------------------------------------------------------------------------------------------

-- The columns payoff_1, payoff_2, ... or those with the payoffs' own names, in the order of the scenario.
local function prices(r, s)
  local table_of, errors = r.tables.prices, r.tables.errors
  if not table_of then return { r:last("price", "price") }, { r:last("price", "standard_error") } end
  local p, e, own, columns = {}, {}, s.keys.payoffs or {}, -2 -- without step and time
  for _ in pairs(errors) do columns = columns + 1 end
  for k = 1, columns do
    local payoff = own[k - (columns - #own)]
    local name = payoff and payoff.keys.name or "payoff_" .. k
    p[k], e[k] = table_of[name][#table_of[name]], errors[name][#errors[name]]
  end
  return p, e
end

-- Returns prices, errors and the run of a scenario with its own random numbers; `way` distinguishes the runs.
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
  local p, e = prices(r, asked)
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
-- Difference of the same paths with other arithmetic: rounding of each price of a path (64 operations a step), and,
-- with paths in single precision, a path or two on the other side of a strike or level.
local function rounding(s)
  local paths = s.keys.sampling and s.keys.sampling.paths or 2 ^ 14
  local steps = s.keys.steps or 1
  if (s.keys.precision or "double") == "double" then return scale(s) * 64 * (steps + 4) * 2 ^ -52 end
  return scale(s) * (8 * (steps + 4) * 2 ^ -23 + 4 / paths)
end

-- Integrals of functions of time are good to 1e-10 in both ways; in fp32 the rounding of a path does not all cancel.
local function fine(s) return (s.keys.precision or "double") == "double" and 1e-9 or 1e-6 end

local function all_assets(s, test) for _, a in ipairs(s.keys.assets) do if not test(a) then return false end end return true end
local function any_payoff(s, test) for k, p in ipairs(s.keys.payoffs or {}) do if test(p.keys, p.name, k) then return true end end return false end
-- Whether no parameter of Heston's model changes in time.
local function constant_heston(h)
  for _, x in pairs(h or {}) do if type(x) ~= "number" then return false end end
  return true
end
local function plain(s)
  local c = copy(s)
  local old = c.keys.sampling or {}
  c.keys.sampling = { paths = old.paths, sequence = old.sequence, antithetic = old.antithetic }
  return c
end
-- Whether the law of the payment does not depend on the steps.
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
    if name == "asian" or name == "american" or name == "autocallable" or name == "accumulator" or name == "forward_start" then return true end
    if name == "barrier" or name == "double_barrier" or name == "lookback" then return p.monitoring ~= "continuous" or not bridges end
    return false
  end)
end

-- ---- the twins ----------------------------------------------------------------------------------------------------

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
      c.keys.precision = (s.keys.precision or "double") == "double" and "mixed" or "double"
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
          T:sure(("payoff %d, %s, and its formula"):format(k, payoff_k.name), p[first + k], e[first + k], value, 0, scale(s) * fine(s))
        end
      end
    end },

  { name = "Greeks and formulas", weight = 2,
    applies = function(s) return any_payoff(s, function(p, name) return (name == "european" or name == "digital") and s.keys.assets[p.asset].vol ~= nil end) end,
    prepare = function(_, R) return { method = R.pick("auto", "auto", "bump"), all = R.chance(0.5) } end,
    check = function(T, s, a)
      local c, p = copy(s), nil
      local without = function(x) x.currency, x.exchange, x.exchange_rate = nil, nil, nil return x end
      for _, x in ipairs(s.keys.payoffs) do if x.name == "european" or x.name == "digital" then p = p or copy(x) end end
      if not p then error({ refused = "no payoff with a formula" }) end
      local asset_of = copy(s.keys.assets[p.keys.asset or 1])
      if not asset_of.vol then error({ refused = "another model" }) end
      p.keys.asset = nil
      without(asset_of)
      without(p.keys)
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
    applies = function(s) return constant(s.keys.assets[1]) and not s.keys.assets[1].currency and type(s.keys.rate) == "number" and type(s.keys.assets[1].dividend or 0) == "number" end,
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
      not any_payoff(s, function(p, name) return name ~= "european" and name ~= "basket" and name ~= "spread" and name ~= "best_of" and name ~= "worst_of" and name ~= "rainbow" end) end,
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
        -- First order: eight times as many steps leave an eighth; a quarter of the bias may be of higher order.
        T:sure(("price %d less its bias, and by finer steps"):format(k), p[k] - b * 7 / 8, math.sqrt(e[k] ^ 2 + be ^ 2), q[k], f[k], math.abs(b) / 2 + 1e-4 * scale(s))
      end
    end },

  -- A multilevel run has no bias but what its errors tell; the other run has 16 times the steps, and a sixteenth of the bias.
  { name = "levels", weight = 2,
    applies = function(s) return ask.knows("option", "multilevel") and not all_assets(s, function(a) return a.vol ~= nil end) and all_assets(s, function(a) return a.rough_bergomi == nil end) and not s.keys.payoff and
      not any_payoff(s, function(p, name) return name ~= "european" and name ~= "digital" and name ~= "basket" and name ~= "spread" and name ~= "best_of" and name ~= "worst_of" and name ~= "rainbow" end) end,
    prepare = function(_, R) return { antithetic = R.chance(0.4), randomised = R.chance(0.4) } end,
    check = function(T, s, a)
      local c, d = plain(s), plain(s)
      local random = a.randomised and not any_payoff(s, function(_, name) return name == "digital" end) and
        all_assets(s, function(x) return not (x.heston or x.sabr) or x.heston and type(x.heston.kappa) == "number" and type(x.heston.theta) == "number" and
          type(x.heston.sigma) == "number" and 2 * x.heston.kappa * x.heston.theta >= x.heston.sigma ^ 2 end) and s.keys.precision ~= "mixed"
      c.keys.greeks, d.keys.greeks = nil, nil
      c.keys.steps = math.min(16 * (s.keys.steps or 8), 1024)
      c.keys.sampling = { paths = 2 ^ 14 }
      local q, f, r = priced(T, c, 2)
      local largest = 0
      for k = 1, #q do if f[k] == f[k] then largest = math.max(largest, f[k]) end end
      d.keys.sampling = { multilevel = true, standard_error = math.max(largest, 1e-4 * scale(s)), antithetic = a.antithetic or nil, randomised = random or nil, paths = 2 ^ 20 }
      local p, e = priced(T, d, 1)
      for k = 1, #p do
        local name = s.keys.payoffs[k].keys.name or "payoff_" .. k
        local b = #p == 1 and r:last("price", "bias") or r:last("biases", name)
        local be = #p == 1 and r:last("price", "bias_error") or r:last("bias_errors", name)
        T:sure(("price %d of levels, and of fine steps"):format(k), p[k], e[k], q[k] - b, math.sqrt(f[k] ^ 2 + be ^ 2), math.abs(b) / 2 + 1e-4 * scale(s))
      end
    end },

  { name = "forward", weight = 2,
    check = function(T, s)
      local c, texts = copy(s), {}
      c.keys.payoffs = nil
      for i, a in ipairs(s.keys.assets) do
        texts[i] = a.currency and ("path.last[%d] * path.last[%d]"):format(i, a.currency) or ("path.last[%d]"):format(i)
      end
      c.keys.payoff = scenario.text("function(path) return " .. table.concat(texts, ", ") .. " end")
      if c.keys.sampling and c.keys.sampling.control == "black_scholes" then c.keys.sampling.control = "geometric" end
      local p, e = priced(T, c, 1)
      for i, a in ipairs(s.keys.assets) do
        local one, by = copy(a), a.currency and s.keys.assets[a.currency].spot or 1
        one.currency = nil -- a converted price grows by the run's rate
        T:sure(("the mean of asset %d and its forward"):format(i), p[i], e[i], by * forward(s, one) * discount(s), 0, by * a.spot * fine(s))
      end
    end },

  { name = "parity",
    applies = function(s) return #s.keys.payoffs > 0 end,
    prepare = function(s, R) return { strike = s.keys.assets[1].spot * R.uniform(0.7, 1.4), asset = 1 } end,
    check = function(T, s, a)
      local c = copy(s)
      c.keys.payoff = nil
      c.keys.payoffs = { call("european", { strike = a.strike }), call("european", { strike = a.strike, type = "put" }) }
      local one, by, market = copy(s.keys.assets[1]), 1, s
      if one.currency then
        for _, x in ipairs(c.keys.payoffs) do x.keys.exchange = "payment" end
        by, market, one.currency = s.keys.assets[one.currency].spot, E.own_market(s, one.currency), nil
      end
      local p, e = priced(T, c, 1)
      T:sure("call less put and the forward", p[1] - p[2], e[1] + e[2], by * discount(market) * (forward(market, one) - a.strike), 0, by * scale(s) * fine(s))
    end },

  { name = "in and out",
    applies = function(s) return any_payoff(s, function(_, name) return name == "barrier" or name == "double_barrier" end) end,
    check = function(T, s)
      local c = plain(s)
      c.keys.payoff, c.keys.payoffs = nil, {}
      local rebate
      for _, p in ipairs(s.keys.payoffs) do
        if p.name == "barrier" or p.name == "double_barrier" then
          local k = copy(p.keys)
          k.knock, k.name = "out", nil
          c.keys.payoffs[1] = call(p.name, k)
          k = copy(k)
          k.knock = "in"
          c.keys.payoffs[2] = call(p.name, k)
          rebate = k.rebate or 0
          c.keys.payoffs[3] = call("european", { strike = k.strike, type = k.type, asset = k.asset, exchange = k.exchange, exchange_rate = k.exchange_rate })
          if k.exchange == "payment" and rebate ~= 0 then error({ refused = "a converted rebate is not known" }) end
          rebate = rebate * (k.exchange == "quanto" and k.exchange_rate or 1)
        end
      end
      local p = priced(T, c, 1)
      T:near("knock-in and knock-out and the European and one rebate", p[1] + p[2], p[3] + rebate * discount(s), rounding(c))
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

  { name = "names",
    applies = function(s) return #s.keys.payoffs > 0 end,
    check = function(T, s)
      local c = copy(s)
      for k, p in ipairs(c.keys.payoffs) do p.keys.name = p.keys.name and "n" .. p.keys.name or "contract_" .. k end
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 1)
      for k = 1, #p do
        T:near("a price under another name", p[k], q[k], 0)
        T:near("its standard error under another name", e[k], f[k], 0)
      end
    end },

  { name = "bystander", weight = 2,
    prepare = function(s, R)
      local other = asset(R, s.keys.maturity)
      other.heston, other.rough_bergomi, other.sabr, other.local_vol, other.vol_grid, other.vol = nil, nil, nil, nil, nil, 0.3
      if R.chance(0.5) then other.jumps = { rate = 1, mean = -0.2, deviation = 0.1 } end
      return { other = other, control = R.chance(0.5) }
    end,
    applies = function(s) return not any_payoff(s, function(_, name) return of_all[name] end) end,
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
      if c.keys.assets[1].heston or c.keys.assets[1].rough_bergomi or c.keys.assets[1].sabr or c.keys.assets[1].jumps then error({ refused = "words of their own" }) end
      for _, p in ipairs(c.keys.payoffs) do
        if not of_all[p.name] then p.keys.asset = 2 end
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
        if not of_all[p.name] then p.keys.asset = n + 1 - (p.keys.asset or 1) end
        if p.name == "spread" then p.keys.second = n + 1 - (p.keys.second or 2) end
      end
      for _, a in ipairs(c.keys.assets) do if a.currency then a.currency = n + 1 - a.currency end end
      local p, e = priced(T, s, 1)
      local q, f = priced(T, c, 2)
      compare(T, "assets in reverse order", p, e, q, f)
    end },

  { name = "unit of money",
    applies = function(s) return not s.keys.payoff and all_assets(s, function(a) return not a.local_vol end) end,
    check = function(T, s)
      local c, by = plain(s), 64
      local currency
      for _, a in ipairs(c.keys.assets) do currency = currency or a.currency end
      if any_payoff(s, function(p) return currency and (p.asset == currency or p.second == currency) end) then error({ refused = "a rate of exchange" }) end
      for i, a in ipairs(c.keys.assets) do
        if i ~= currency then a.spot = a.spot * by end
        if a.vol_grid then for i, x in ipairs(a.vol_grid.spots) do a.vol_grid.spots[i] = x * by end end
        if a.sabr then a.sabr.alpha = a.sabr.alpha * by ^ (1 - a.sabr.beta) end
      end
      for _, p in ipairs(c.keys.payoffs) do
        for _, k in ipairs { "level", "low", "high", "rebate", "protection", "strike" } do
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
        return not a.local_vol and not a.vol_grid and type(a.vol or 0) == "number" and type(a.dividend or 0) == "number" and
          constant_heston(a.heston) and constant_heston(a.rough_bergomi)
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
        local rough = a.rough_bergomi
        if a.sabr then a.sabr.alpha, a.sabr.nu = a.sabr.alpha / math.sqrt(by), a.sabr.nu / math.sqrt(by) end
        if rough then rough.xi, rough.eta = rough.xi / by, rough.eta / by ^ rough.hurst end
        if h then h.v, h.kappa, h.theta, h.sigma = h.v / by, h.kappa / by, h.theta / by, h.sigma / by end
      end
      local p = priced(T, plain(s), 1)
      local q = priced(T, c, 1)
      for k = 1, #p do T:near("prices in another unit of time", p[k], q[k], rounding(s)) end
    end },

  { name = "Heston's curves", weight = 2, -- of one value
    prepare = function(s, R) return { at = R.uniform(0.1, 0.9) * s.keys.maturity, flat = R.chance(0.5) } end,
    applies = function(s)
      local any = false
      for _, a in ipairs(s.keys.assets) do any = any or (a.heston and constant_heston(a.heston)) end
      return any and ask.knows("option", "curve")
    end,
    check = function(T, s, a)
      local c = copy(s)
      for _, one in ipairs(c.keys.assets) do
        for _, k in ipairs { "kappa", "theta", "sigma", "rho" } do
          local x = one.heston and one.heston[k]
          if type(x) == "number" then
            one.heston[k] = fn("sim.curve { {0, %g}, {%g, %g}" .. (a.flat and ', between = "flat" }' or " }"), x, a.at, x)
          end
        end
      end
      local p, q = priced(T, s, 1), priced(T, c, 1)
      for k = 1, #p do T:near("prices with curves", p[k], q[k], rounding(s) + fine(s) * scale(s)) end
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
      if c.keys.assets[1].currency then for _, p in ipairs(c.keys.payoffs) do p.keys.exchange = "quanto" end end
      local p, e = priced(T, c, 1)
      T:near("exercise at maturity alone and a European", p[2], p[1], rounding(c))
      if p[3] < p[1] - 5 * (e[1] + e[3]) - 0.03 * p[1] then T:disagree("an American put", "%g below the European %g", p[3], p[1]) end
      if all_assets(c, function(x) return x.dividend == nil and x.currency == nil end) and p[5] > p[4] + 5 * (e[4] + e[5]) + 1e-9 then
        T:disagree("an American call without dividends", "%g above the European %g", p[5], p[4])
      end
    end },

  { name = "early exercise on all assets",
    applies = function(s) return s.keys.steps > 1 and not s.keys.precision end,
    prepare = function(s, R) return { strike = s.keys.assets[1].spot * R.uniform(0.8, 1.2) } end,
    check = function(T, s, a)
      local c = plain(s)
      c.keys.payoff = nil
      local n, all = c.keys.steps or 1, {}
      for i = 1, #c.keys.assets do all[i] = ("path.last[%d]"):format(i) end
      local best = #all > 1 and ("sim.max(%s)"):format(table.concat(all, ", ")) or all[1]
      local function american(keys) keys.fit_paths = 4096; return call("american", keys) end
      c.keys.payoffs = { call("best_of", { strike = a.strike }), american { strike = a.strike, on = "best_of", every = n },
        call("worst_of", { strike = a.strike, type = "put" }), american { strike = a.strike, type = "put", on = "worst_of", every = n },
        call("basket", { strike = a.strike }), american { strike = a.strike, on = "basket", every = n },
        american { strike = a.strike, on = "best_of", basis = "ordered" },
        american { exercise = fn(("function(path) return %s - %.17g end"):format(best, a.strike)), basis = "ordered" } }
      local p, e = priced(T, c, 1)
      for k = 1, 5, 2 do T:near("exercise at maturity alone and a European", p[k + 1], p[k], rounding(c)) end
      T:near("the best by name and as a function", p[8], p[7], rounding(c))
      if p[7] < p[1] - 5 * (e[1] + e[7]) - 0.03 * p[1] then T:disagree("early exercise on the best", "%g below the European %g", p[7], p[1]) end
    end },

  { name = "errors",
    check = function(T, s)
      local n, keep = 10, {}
      -- No error is stated below what rounding may leave (docs/scenario.md).
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
        -- chi squared of 9 degrees: above 60 with probability 1.3e-9, below 0.35 with 1e-6; errors of 16 scrambles vary
        -- by 18 %, which widens both sides.
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
      local digest, p, e = r.digest, prices(r, c)
      local again = T:again(r, 2)
      T:same("digests of a run and one that went on", digest, again.digest)
      T:near("prices", p, (prices(again, c)), 0)
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
  prepare = function(s, R)
    local smooth = not s.keys.payoff and not any_payoff(s, function(p, name)
      return name == "digital" or name == "autocallable" or name == "barrier" or name == "american" or p.monitoring
    end) and all_assets(s, function(a) return not a.local_vol and not a.vol_grid and not a.sabr end)
    local dense = #s.keys.assets == 1 and s.keys.assets[1].vol and not s.keys.assets[1].jumps and not any_payoff(s, function(p) return p.monitoring end)
    return { first = smooth and R.chance(0.7) and "pathwise" or dense and R.chance(0.7) and "likelihood" or "auto", gamma = R.chance(0.3) }
  end,
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

M.priced, M.compare, M.rounding, M.scale, M.free_of_steps = priced, compare, rounding, scale, free_of_steps
require("option_dates").add(M)
require("option_risk").add(M)
require("option_desk").add(M)

return M
