-- The ways to ask for risk: ladders, exposures, paths that are written, Greeks of a book, and random rates.
local scenario, ask, F = require "scenario", require "ask", require "formulas"
local E = require "option_exact"
local call, copy = scenario.call, scenario.copy
local M = {}

local greeks = { "delta", "gamma", "vega", "rho", "theta", "vanna", "volga", "charm" }

-- The scenario with all spots shifted by a share, and volatilities that are numbers by `vol`; contracts stay as they are.
local function shifted(s, spot, vol)
  local c = copy(s)
  for _, a in ipairs(c.keys.assets) do
    for _, p in ipairs(c.keys.payoffs or {}) do
      if p.name == "autocallable" then p.keys.initial = s.keys.assets[p.keys.asset or 1].spot end
    end
    a.spot = a.spot * (1 + spot)
    if a.vol and vol ~= 0 then a.vol = a.vol + vol end
  end
  return c
end

-- The columns of the Greeks of all payoffs: [greek][payoff][asset].
local function greeks_of(r, s, which)
  local list = {}
  for _, g in ipairs(greeks) do
    local value, err = r.tables[g .. "s"], r.tables[g .. "_errors"]
    local name = s.keys.payoffs[which].keys.name or "payoff_" .. which
    for i = 1, #s.keys.assets do
      local column = name .. (#s.keys.assets > 1 and g ~= "rho" and g ~= "theta" and "_" .. i or "")
      local single = g .. (#s.keys.assets > 1 and g ~= "rho" and g ~= "theta" and "_" .. i or "")
      local v = value and value[column] and value[column][#value[column]] or #s.keys.payoffs == 1 and r:last("price", single)
      local e = err and err[column] and err[column][#err[column]] or #s.keys.payoffs == 1 and r:last("price", single .. "_error")
      if v then list[#list + 1] = { name = single, value = v, error = e } end
    end
  end
  return list
end

function M.add(of)
  local priced, rounding = of.priced, of.rounding
  local function add(twin) of.twins[#of.twins + 1] = twin end

  add { name = "ladder", weight = 2,
    applies = function() return ask.knows("option", "ladder") end,
    prepare = function(_, R) return { spot = R.uniform(-0.15, 0.15), vol = R.uniform(-0.05, 0.1), paths = R.chance(0.5) } end,
    check = function(T, s, a)
      s = copy(s)
      s.keys.sampling.control = nil -- today's: another one than that of a run of the shifted scenario
      local c, numbers = copy(s), true
      for _, x in ipairs(s.keys.assets) do numbers = numbers and type(x.vol) == "number" end
      for _, p in ipairs(s.keys.payoffs or {}) do
        if p.name == "american" then error({ refused = "a rule of its own, on other paths in single precision" }) end
      end
      local vol = numbers and a.vol or 0
      c.keys.ladder = { spot = a.spot > 0 and { 0, a.spot } or { a.spot, 0 }, vol = vol ~= 0 and (vol > 0 and { 0, vol } or { vol, 0 }) or nil }
      if a.paths then c.keys.paths = { count = 100 } end
      local p, e = priced(T, s, 1)
      local q, f, r = priced(T, c, 1)
      T:near("prices without and with a ladder", p, q, 0)
      T:near("their errors", e, f, 0)
      local x = priced(T, shifted(s, a.spot, vol), 1)
      local ladder, vols = host.read(r.dir .. "/ladder.h5"), vol ~= 0 and 2 or 1
      local point = (vol > 0 and 1 or 0) * 2 + (a.spot > 0 and 1 or 0)
      for k = 1, #x do
        local at = (k - 1) * 2 * vols + point + 1
        T:near(("payoff %d at a point of the ladder and alone"):format(k), ladder.price[at], x[k], rounding(s))
        T:near(("change of payoff %d"):format(k), ladder.change[at], ladder.price[at] - q[k], rounding(s))
      end
    end }

  add { name = "paths",
    applies = function() return ask.knows("option", "paths.h5") end,
    check = function(T, s)
      local c, texts = copy(s), {}
      local n, paths = #s.keys.assets, 2 ^ 12
      for i = 1, n do texts[i] = ("path.last[%d]"):format(i) end
      c.keys.payoffs, c.keys.payoff = nil, scenario.text("function(path) return " .. table.concat(texts, ", ") .. " end")
      c.keys.sampling = { paths = paths, antithetic = s.keys.sampling.antithetic, sequence = s.keys.sampling.sequence, scrambles = s.keys.sampling.scrambles }
      c.keys.paths = { count = paths, every = c.keys.steps }
      if T.stage == 2 then c.keys.sampling.paths = paths / 16 end -- `priced` takes 16 times as many
      local p, _, r = priced(T, c, 1)
      local price = host.read(r.dir .. "/paths.h5").price -- [path][asset][2]
      for i = 1, n do
        local sum = 0
        for k = 0, paths - 1 do sum = sum + price[(k * n + i - 1) * 2 + 2] end
        T:near(("mean of asset %d and of its paths"):format(i), p[i], sum / paths * E.discount(s), rounding(s) + 1e-9 * p[i])
      end
    end }

  add { name = "exposure",
    applies = function(s) return ask.knows("option", "exposure") and not s.keys.payoff and #s.keys.payoffs > 0 end,
    prepare = function(s, R) return { at = s.keys.maturity * R.uniform(0.2, 0.8) } end,
    check = function(T, s, a)
      local c = copy(s)
      for _, p in ipairs(c.keys.payoffs) do
        if p.name == "autocallable" then error({ refused = "payments before the maturity" }) end
      end
      if c.keys.payoff then error({ refused = "a function" }) end
      c.keys.sampling.control = nil
      c.keys.exposure = { dates = { a.at }, paths = 2 ^ 14, fit_paths = 2 ^ 14 }
      local p, e, r = priced(T, c, 1)
      local sum, error_of = 0, 0
      for k = 1, #p do sum, error_of = sum + p[k], error_of + e[k] end
      for d = 1, 2 do
        local epe, ene = r:last("epe", "date_" .. d), r:last("ene", "date_" .. d)
        local f = r:last("epe_errors", "date_" .. d) + r:last("ene_errors", "date_" .. d)
        local grown = d == 1 and 1 or E.discount(s, a.at)
        T:sure(("EPE less ENE at date %d and the price"):format(d), (epe - ene) * grown, f * grown, sum, error_of)
      end
    end }

  add { name = "Greeks of a book", weight = 2,
    applies = function(s) return #(s.keys.payoffs or {}) > 1 and not s.keys.payoff end,
    prepare = function(s, R) return { one = R.int(1, #s.keys.payoffs), method = R.pick("auto", "bump"), theta = R.chance(0.5), second = R.chance(0.5) } end,
    check = function(T, s, a)
      local c = copy(s)
      if c.keys.payoff then error({ refused = "a function" }) end
      c.keys.sampling.control = nil -- of the first payoff alone
      local second = a.second and #c.keys.payoffs * #c.keys.assets <= 8 and ask.knows("option", "vanna") or nil
      c.keys.greeks = { delta = true, gamma = true, vega = true, rho = true, theta = a.theta or nil, method = a.method,
        vanna = second, volga = second, charm = a.theta and second or nil }
      local d = copy(c)
      d.keys.payoffs = { c.keys.payoffs[a.one] }
      local _, _, r = priced(T, c, 1)
      local _, _, q = priced(T, d, 1)
      local x, y = greeks_of(r, c, a.one), greeks_of(q, d, 1)
      for k = 1, #y do
        if x[k] == nil or x[k].name ~= y[k].name then error({ refused = "too many columns" }) end
        -- Rounding of a path, over the step of a difference: 1e-3, or 1e-2 squared, of the spot.
        T:near(("%s in a book and alone"):format(y[k].name), x[k].value, y[k].value, 1e5 * rounding(c))
      end
    end }

  add { name = "Greeks by nodes", weight = 2,
    applies = function() return ask.knows("option", "vega_bucket") end,
    prepare = function(_, R) return { one = R.int(1, 99), at = R.uniform(0.1, 1.2), flat = R.chance(0.3), method = R.pick("auto", "bump") } end,
    check = function(T, s, a)
      -- Curves of one value: all is as with the number, and the sum over the nodes is the derivative by it.
      local c, curves = copy(s), 0
      local function curve(x)
        local text = "sim.curve { {0, %.17g}, {%.17g, %.17g}, {%.17g, %.17g}" .. (a.flat and ', between = "flat" }' or " }")
        return scenario.text(text:format(x, a.at * s.keys.maturity / 2, x, a.at * s.keys.maturity, x))
      end
      for _, x in ipairs(c.keys.assets) do
        if type(x.vol) == "number" and x.vol > 0 then x.vol, curves = curve(x.vol), curves + 1 end
      end
      if curves == 0 then error({ refused = "no volatility" }) end
      if c.keys.payoffs and #c.keys.payoffs > 0 then
        c.keys.payoff, c.keys.payoffs = nil, { c.keys.payoffs[(a.one - 1) % #c.keys.payoffs + 1] }
        if c.keys.payoffs[1].name == "american" then error({ refused = "a rule that other volatilities round otherwise" }) end
      end
      local by_rate = type(c.keys.rate) == "number" and not (c.keys.payoffs and c.keys.payoffs[1] and c.keys.payoffs[1].name == "autocallable")
      if by_rate then c.keys.rate = curve(c.keys.rate) end
      local d = copy(c)
      d.keys.assets, d.keys.rate = s.keys.assets, s.keys.rate
      d.keys.greeks = { vega = true, rho = true, method = a.method }
      c.keys.greeks = { vega = true, rho = true, vega_bucket = true, rho_bucket = by_rate or nil, method = a.method }
      local p, _, q = priced(T, d, 1)
      local x, _, r = priced(T, c, 1)
      T:near("prices with numbers and with curves", p, x, 10 * rounding(c) + 1e-9 * of.scale(c))
      local many = #s.keys.assets > 1
      local function sum(what, whole, prefix)
        local total, errors = 0, 0
        for node = 1, 3 do
          local value, err = r:last("price", prefix .. node), r:last("price", prefix .. node .. "_error")
          if value == nil then error({ refused = "too many columns" }) end
          total, errors = total + value, errors + err
        end
        local known, err = q:last("price", whole), q:last("price", whole .. "_error")
        T:sure(what, total, errors, known, err, 1e5 * rounding(c) + 0.01 * math.abs(known))
      end
      for i, asset in ipairs(c.keys.assets) do
        if type(s.keys.assets[i].vol) == "number" and s.keys.assets[i].vol > 0 then
          sum(("vega of asset %d and its sum over nodes"):format(i), many and "vega_" .. i or "vega",
            many and ("vega_bucket_%d_"):format(i) or "vega_bucket_")
        end
      end
      if by_rate then sum("rho and its sum over nodes", "rho", "rho_bucket_") end
    end }

  add { name = "random rates",
    applies = function(s) return ask.knows("option", "hull_white") and type(s.keys.assets[1].vol) == "number" end,
    prepare = function(s, R)
      return { reversion = R.log(0.01, 1), sigma = R.log(0.001, 0.03), rho = R.uniform(-0.7, 0.7), strike = s.keys.assets[1].spot * R.uniform(0.7, 1.4) }
    end,
    check = function(T, s, a)
      local c, one = copy(s), copy(s.keys.assets[1])
      if type(one.vol) ~= "number" then error({ refused = "another model" }) end
      one.currency = nil
      c.keys.assets, c.keys.correlation, c.keys.payoff = { one }, nil, nil
      c.keys.payoffs = { call("european", { strike = a.strike }), call("european", { strike = a.strike, type = "put" }) }
      c.keys.sampling.control = nil
      local d = copy(c)
      d.keys.hull_white = { reversion = a.reversion, sigma = 0, correlation = { 0 } }
      local p = priced(T, c, 1)
      local q = priced(T, d, 1)
      T:near("a random rate without volatility and none", p, q, rounding(c) + 1e-9 * of.scale(c))
      d.keys.hull_white = { reversion = a.reversion, sigma = a.sigma, correlation = { a.rho } }
      local x, f = priced(T, d, 2)
      T:sure("call less put and the forward, of a random rate", x[1] - x[2], f[1] + f[2],
        E.discount(s) * (E.forward(s, one) - a.strike), 0, of.scale(s) * 1e-6)
    end }

  -- Early exercise by a rule that sees a random volatility, together with a curve, a ladder, Greeks and a checkpoint: a
  -- call without dividends is held until its maturity, and has the formula of a European one at every point.
  add { name = "a rule by a volatility",
    applies = function() return ask.knows("option", "ladder") end,
    prepare = function(_, R)
      local T = R.uniform(0.4, 1.5)
      return { T = T, strike = 100 * R.log(0.85, 1.15), spot = R.uniform(-0.12, 0.12), vol = R.uniform(-0.03, 0.05),
        rates = { R.uniform(0.01, 0.06), R.uniform(0.01, 0.06) }, at = T * R.uniform(0.2, 0.8), sobol = R.chance(0.3), mixed = R.chance(0.3),
        heston = { v = R.log(0.02, 0.1), kappa = R.uniform(0.5, 3), theta = R.log(0.02, 0.1), sigma = R.uniform(0.1, 0.5), rho = R.uniform(-0.8, 0.3) } }
    end,
    check = function(T, _, a)
      local h, n = a.heston, 16
      local rate = scenario.fn("sim.curve { {0, %g}, {%g, %g}, between = \"flat\" }", a.rates[1], a.at, a.rates[2])
      local s = call("option", { assets = { { spot = 100, heston = h } }, rate = rate, maturity = a.T, steps = n, precision = a.mixed and "mixed" or nil,
        payoffs = { call("american", { strike = a.strike, every = 2, fit_paths = 2 ^ 14 }), call("european", { strike = a.strike }) },
        sampling = { paths = T.stage == 2 and 2 ^ 18 or 2 ^ 15, sequence = a.sobol and "sobol" or nil, scrambles = a.sobol and 16 or nil }, seed = 7 + T.stage,
        ladder = { spot = a.spot > 0 and { 0, a.spot } or { a.spot, 0 }, vol = a.vol > 0 and { 0, a.vol } or { a.vol, 0 } },
        greeks = { delta = true, vega = true, rho = true }, output = { snapshots = "never", tables = "ends", checkpoint = "ends" } })
      -- The formula where spot, volatility and rate are shifted.
      local function known(spot, vol, more)
        local function moved(v) return (math.sqrt(v) + vol) ^ 2 end
        local sum = a.rates[1] * a.at + a.rates[2] * (a.T - a.at) + more * a.T
        local model = { v = moved(h.v), theta = moved(h.theta), kappa = h.kappa, sigma = h.sigma, rho = h.rho }
        return F.heston(model, a.T, 100 * (1 + spot) * math.exp(sum), a.strike, math.exp(-sum))
      end
      local r = T:ask(s)
      local p, e, bias = {}, {}, {}
      for k = 1, 2 do
        local name = "payoff_" .. k
        p[k], e[k] = r:last("prices", name), r:last("errors", name)
        bias[k] = math.abs(r:last("biases", name)) + 4 * r:last("bias_errors", name) + 1e-6 * p[k]
      end
      -- The rule may exercise too early, which costs at most 1 % of the price with 2^14 paths to fit it.
      local low = { 0.01, 0 }
      for k = 1, 2 do T:sure("a call under Heston and its formula", p[k], e[k], known(0, 0, 0), 0, bias[k] + low[k] * p[k]) end
      local ladder = host.read(r.dir .. "/ladder.h5")
      for k = 1, 2 do
        for i = 0, 3 do
          local up, wide = i % 2 == (a.spot > 0 and 1 or 0), (i // 2) == (a.vol > 0 and 1 or 0)
          local at = (k - 1) * 4 + i + 1
          local want = known(up and a.spot or 0, wide and a.vol or 0, 0)
          T:sure("a point of the ladder and the formula", ladder.price[at], ladder.price_error[at], want, 0, 3 * bias[k] + low[k] * want)
        end
      end
      local d = 1e-3
      local want = { delta = (known(d, 0, 0) - known(-d, 0, 0)) / (200 * d), vega = (known(0, d, 0) - known(0, -d, 0)) / (2 * d), rho = (known(0, 0, d) - known(0, 0, -d)) / (2 * d) }
      for k = 1, 2 do
        for name, value in pairs(want) do
          local column, table_of = "payoff_" .. k, r.tables[name .. "s"]
          T:sure(name .. " and the formula", table_of[column][#table_of[column]], r:last(name .. "_errors", column), value, 0, (0.01 + 3 * low[k]) * math.abs(value))
        end
      end
      T:same("digests of a run and its checkpoint", r.digest, T:again(r, 2).digest)
    end }
end

return M
