-- The ways to ask for fields on grids.
local scenario, ask, draw = require "scenario", require "ask", require "diffusion_draw"
local call, fn, text, copy = scenario.call, scenario.fn, scenario.text, scenario.copy
local M = { name = "diffusion", draw = draw.draw }
local axes = { "x", "y", "z" }

local inputs = draw.inputs

-- ---- helpers ------------------------------------------------------------------------------------------------------

local function still(s)
  for _, f in ipairs(s.keys.fields) do if f.noise or f.fluctuation then return false end end
  return true
end
-- Whether walls of the fields mix value and slope, or hold values of their own.
local function mixed(s) return s.keys.fields[1].sides ~= nil end
local function fixed_step(s) return s.keys.integrate.dt ~= nil or not s.keys.rates end
local function kind_of(s, i) return s.keys.grid[axes[i]] or s.keys.grid.boundary or "periodic" end
-- Whether a GPU takes the grid in slabs: three axes of several cells, and blocks of the axis whose coefficients are shared.
local function in_slabs(s)
  local n = s.keys.grid.n
  if #n < 3 or math.min(n[1], n[2], n[3]) < 2 then return false end
  local shared = n[kind_of(s, 1) ~= "periodic" and kind_of(s, 2) == "periodic" and 1 or 2]
  if s.keys.integrate.dealias == "padding" then shared = shared * 3 // 2 end
  for factor = 2, 16 do
    if shared % factor == 0 then return true end
  end
  return false
end
local function top(list)
  local most = 0
  for _, v in ipairs(list or {}) do most = math.max(most, math.abs(v)) end
  return most
end
-- Rounding: each step's transforms and rates leave 20 units of the largest value. The steps add up at random, and the
-- equation may stretch them 50 times (rates of at most 2 in a time of at most 1, and derivatives).
local function bound(s, r)
  local most = 1
  for _, f in ipairs(s.keys.fields) do most = math.max(most, top(r.state[f.name])) end
  local eps = s.keys.precision == "single" and 2 ^ -24 or 2 ^ -52
  local rate = s.keys.rates and s.keys.rates.words:find("u_[xyz]") and 10 or 1
  return eps * 20 * (1 + math.sqrt(r.steps or 100)) * 50 * rate * most
end
-- The field as a function of cell indices from 0.
local function field(r, s, name)
  local values, n = r.state[name], s.keys.grid.n
  if not values then error({ text = "no field " .. tostring(name) .. " in the snapshot" }) end
  local nx, ny = n[1], n[2] or 1
  return function(i, j, k) return values[1 + i + nx * (j + ny * k)] end
end
local function each_cell(s, visit)
  local n = s.keys.grid.n
  for k = 0, (n[3] or 1) - 1 do for j = 0, (n[2] or 1) - 1 do for i = 0, n[1] - 1 do visit(i, j, k) end end end
end
-- Compares field NAME of r with that of q seen through map(i, j, k) -> cell of q.
local function same_field(T, what, r, s, name, q, sq, map, tolerance, other)
  local f, g, a, b = field(r, s, name), field(q, sq, other or name), {}, {}
  each_cell(s, function(i, j, k)
    a[#a + 1] = f(i, j, k)
    b[#b + 1] = g(map(i, j, k))
  end)
  T:near(what .. ", field " .. name, a, b, tolerance)
end
local function same_fields(T, what, r, s, q, sq, map, tolerance)
  for _, f in ipairs(s.keys.fields) do same_field(T, what, r, s, f.name, q, sq, map, tolerance) end
end
local function identity(i, j, k) return i, j, k end

-- The function with its inputs replaced: `change` returns an expression for a name.
local function through(f, change, names)
  if not f then return nil end
  local args = {}
  for i, name in ipairs(f.inputs) do args[i] = change[name] or name end
  local g = text(("function(%s) return (%s)(%s) end"):format(table.concat(names or f.inputs, ", "), f.words, table.concat(args, ", ")))
  return inputs(g, names or f.inputs)
end
local function has(f, name)
  for _, n in ipairs(f and f.inputs or {}) do if n == name then return true end end
  return false
end

-- ---- the twins ----------------------------------------------------------------------------------------------------

M.twins = {
  { name = "mirrored", weight = 2, applies = still,
    prepare = function(s, R) return { axis = R.int(1, #s.keys.grid.n) } end,
    check = function(T, s, a)
      local c, x = copy(s), axes[a.axis]
      local L, n = s.keys.grid.size[a.axis], s.keys.grid.n[a.axis]
      local flip = { [x] = ("%s - %s"):format(scenario.number(L), x), ["u_" .. x] = "-u_" .. x, ["v_" .. x] = "-v_" .. x }
      for _, f in ipairs(c.keys.fields) do
        if f.initial and scenario.is_text(f.initial) then f.initial = through(f.initial, flip) end
        if f.drift then f.drift[a.axis] = -f.drift[a.axis] end
        if f.tensor and a.axis <= 2 then f.tensor[1] = -f.tensor[1] end
        if f.walls and kind_of(s, a.axis) == "fixed" then f.walls = { f.walls[2], f.walls[1] } end
        if f.sides then
          local low, high = x .. "_low", x .. "_high"
          f.sides[low], f.sides[high] = f.sides[high], f.sides[low]
          for _, end_ in ipairs { low, high } do
            local side = f.sides[end_]
            if side and side.slope then side.slope = -side.slope end
          end
        end
      end
      c.keys.rates = through(c.keys.rates, flip)
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "mirrored along " .. x, r, s, q, c, function(i, j, k)
        if a.axis == 1 then i = n - 1 - i elseif a.axis == 2 then j = n - 1 - j else k = n - 1 - k end
        return i, j, k
      end, bound(s, r))
    end },

  { name = "shifted", weight = 2,
    applies = function(s) return still(s) and kind_of(s, 1) == "periodic" and not has(s.keys.rates, "x") end,
    prepare = function(s, R) return { cells = R.int(1, s.keys.grid.n[1] - 1) } end,
    check = function(T, s, a)
      local c, n = copy(s), s.keys.grid.n[1]
      local shift = { x = "x - " .. scenario.number(a.cells * s.keys.grid.size[1] / n) }
      for _, f in ipairs(c.keys.fields) do if scenario.is_text(f.initial) then f.initial = through(f.initial, shift) end end
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "shifted by cells", r, s, q, c, function(i, j, k) return (i + a.cells) % n, j, k end, bound(s, r))
    end },

  { name = "axes swapped", weight = 2,
    applies = function(s)
      if not still(s) or #s.keys.grid.n < 2 then return false end
      for _, f in ipairs(s.keys.fields) do if f.tensor then return false end end
      return true
    end,
    prepare = function(s, R)
      local order = {}
      for i = 1, #s.keys.grid.n do order[i] = i end
      return { order = R.shuffle(order) }
    end,
    check = function(T, s, a)
      local c, d = copy(s), #s.keys.grid.n
      local rename = {}
      for new = 1, d do
        local old = a.order[new]
        c.keys.grid.n[new], c.keys.grid.size[new] = s.keys.grid.n[old], s.keys.grid.size[old]
        c.keys.grid[axes[new]] = kind_of(s, old)
        rename[axes[old]] = axes[new]
        for _, u in ipairs { "u_", "v_" } do rename[u .. axes[old]] = u .. axes[new] end
      end
      for k, f in ipairs(c.keys.fields) do
        local from = s.keys.fields[k]
        for new = 1, d do
          if f.axes then f.axes[new] = from.axes[a.order[new]] end
          if f.drift then f.drift[new] = from.drift[a.order[new]] end
          for _, end_ in ipairs { "_low", "_high" } do
            if f.sides then f.sides[axes[new] .. end_] = from.sides[axes[a.order[new]] .. end_] end
          end
        end
        if scenario.is_text(f.initial) then f.initial = through(f.initial, rename, table.move(axes, 1, d, 1, {})) end
      end
      if c.keys.rates then
        local names = {}
        for i, name in ipairs(c.keys.rates.inputs) do names[i] = rename[name] or name end
        c.keys.rates = through(c.keys.rates, rename, names)
      end
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "axes in the order " .. table.concat(a.order, ""), r, s, q, c, function(...)
        local old, new = { ... }, {}
        for i = 1, d do new[i] = old[a.order[i]] end
        return new[1], new[2] or 0, new[3] or 0
      end, bound(s, r))
    end },

  { name = "one axis more",
    applies = function(s) return still(s) and #s.keys.grid.n < 3 end,
    prepare = function(_, R) return { n = R.pick(4, 5, 6), kind = R.pick("periodic", "no_flux") } end,
    check = function(T, s, a)
      local c, d = copy(s), #s.keys.grid.n + 1
      c.keys.grid.n[d], c.keys.grid.size[d], c.keys.grid[axes[d]] = a.n, 1, a.kind
      if d == 2 then for _, f in ipairs(c.keys.fields) do f.tensor = nil end end
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "with an axis that nothing depends on", r, s, q, c, function(i, j, k)
        if d == 2 then return i, a.n // 2, k end
        return i, j, a.n // 2
      end, bound(s, r))
    end },

  { name = "even extension", weight = 2,
    applies = function(s) return still(s) and kind_of(s, 1) == "no_flux" and not s.keys.integrate.dealias and not mixed(s) end,
    check = function(T, s)
      local c, n = copy(s), s.keys.grid.n[1]
      local L = scenario.number(s.keys.grid.size[1])
      c.keys.grid.n[1], c.keys.grid.size[1], c.keys.grid.x = 2 * n, 2 * s.keys.grid.size[1], "periodic"
      local fold = { x = ("%s - math.abs(%s - x)"):format(L, L) }
      for _, f in ipairs(c.keys.fields) do if scenario.is_text(f.initial) then f.initial = through(f.initial, fold) end end
      c.keys.rates = through(c.keys.rates, fold)
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "no flux and its even extension", r, s, q, c, identity, bound(s, r))
    end },

  { name = "fields in another order", applies = function(s) return #s.keys.fields == 2 and still(s) and fixed_step(s) end,
    check = function(T, s)
      local c = copy(s)
      c.keys.fields = { copy(s.keys.fields[2]), copy(s.keys.fields[1]) }
      c.keys.fields[1].name, c.keys.fields[2].name = "second", "first"
      for _, f in ipairs(c.keys.fields) do if f.cross then f.cross = { f.cross[2], f.cross[1] } end end
      if c.keys.rates then
        local names = {}
        local rename = { u = "first", v = "second", u_x = "first_x", u_y = "first_y", u_z = "first_z" }
        for i, n in ipairs(c.keys.rates.inputs) do names[i] = rename[n] or n end
        c.keys.rates = text(("function(%s) local a, b = (%s)(%s) return b, a end"):format(table.concat(names, ", "), s.keys.rates.words, table.concat(names, ", ")))
      end
      local r, q = T:ask(s), T:ask(c)
      same_field(T, "in another order", r, s, "u", q, c, identity, bound(s, r), "first")
      same_field(T, "in another order", r, s, "v", q, c, identity, bound(s, r), "second")
    end },

  { name = "exact modes", weight = 3,
    applies = function(s) return #s.keys.fields == 1 end,
    prepare = function(s, R)
      local m, phase = {}, R.uniform(0, 6)
      for i = 1, #s.keys.grid.n do m[i] = R.int(0, math.min(3, s.keys.grid.n[i] // 2 - 1)) end
      return { m = m, phase = phase }
    end,
    check = function(T, s, a)
      local c, f = copy(s), nil
      c.keys.rates, c.keys.integrate = nil, { t_end = s.keys.integrate.t_end }
      f = c.keys.fields[1]
      f.noise, f.fluctuation, f.walls, f.sides = nil, nil, nil, nil
      local d, k, wave, factors = #s.keys.grid.n, {}, {}, {}
      for i = 1, d do
        local L = s.keys.grid.size[i]
        if kind_of(s, i) == "periodic" then
          k[i] = 2 * math.pi * a.m[i] / L
          wave[#wave + 1] = ("%s * %s"):format(scenario.number(k[i]), axes[i])
        elseif kind_of(s, i) == "no_flux" then
          k[i] = math.pi * a.m[i] / L
          factors[#factors + 1] = ("math.cos(%s * %s)"):format(scenario.number(k[i]), axes[i])
        else
          k[i] = math.pi * (a.m[i] + 1) / L
          factors[#factors + 1] = ("math.sin(%s * %s)"):format(scenario.number(k[i]), axes[i])
        end
      end
      local words = "1"
      if #wave > 0 then factors[#factors + 1] = ("math.cos(%s + %s)"):format(table.concat(wave, " + "), scenario.number(a.phase)) end
      if #factors > 0 then words = table.concat(factors, " * ") end
      f.initial = text(("function(%s) return %s end"):format(table.concat(axes, ", ", 1, d), words))
      local names = {}
      for i = 1, d do if words:find(axes[i] .. "[ )]") then names[#names + 1] = axes[i] end end
      f.initial = text(("function(%s) return %s end"):format(table.concat(names, ", "), words))
      if #names == 0 then f.initial = 1 end
      local t, k2, rate, moved = c.keys.integrate.t_end, 0, f.decay or 0, 0
      for i = 1, d do
        k2 = k2 + k[i] ^ 2
        rate = rate + (f.D or 0) * (f.axes or { 1, 1, 1 })[i] * k[i] ^ 2
        if kind_of(s, i) == "periodic" then moved = moved + k[i] * (f.drift or { 0, 0, 0 })[i] * t end
      end
      if f.tensor then rate = rate + 2 * f.tensor[1] * k[1] * k[2] end
      rate = rate + (f.hyper or 0) * k2 ^ 2
      local r = T:ask(c)
      local u, got, want = field(r, c, "u"), {}, {}
      each_cell(c, function(...)
        local cell, value = { ... }, math.exp(-rate * t)
        local phase = a.phase - moved
        for i = 1, d do
          local x = (cell[i] + 0.5) * s.keys.grid.size[i] / s.keys.grid.n[i]
          if kind_of(s, i) == "periodic" then phase = phase + k[i] * x
          elseif kind_of(s, i) == "no_flux" then value = value * math.cos(k[i] * x)
          else value = value * math.sin(k[i] * x) end
        end
        if #wave > 0 then value = value * math.cos(phase) end
        got[#got + 1], want[#want + 1] = u(...), value
      end)
      -- A product of rate and time of up to some tens is rounded before its exponential is taken.
      T:near("a mode and exp(-rate t)", got, want, bound(c, r) * (1 + math.abs(rate * t)) * math.max(1, math.exp(-rate * t)))
    end },

  { name = "schemes", weight = 2,
    applies = function(s)
      if not still(s) or not s.keys.rates then return false end
      for i = 1, #s.keys.grid.n do if kind_of(s, i) == "fixed" then return false end end
      return s.keys.precision ~= "single" and not mixed(s) -- rates that do not obey such walls lower the order
    end,
    prepare = function(s, R)
      local derivative, crossed = s.keys.rates.words:find("u_[xyz]"), false
      for _, f in ipairs(s.keys.fields) do crossed = crossed or f.cross end
      local implicit = not crossed and ask.knows("diffusion", "rodas3") and R.chance(0.4)
      return { one = implicit and "rodas3" or R.pick("lie", "etd1", "etdrk2", "etdrk4"), two = derivative and R.pick("etdrk2", "etdrk4") or R.pick("strang", "etdrk2", "etdrk4") }
    end,
    check = function(T, s, a)
      -- Strang's rates act on whole fields; dealias cuts their result only at the end of a step.
      local order = { lie = 1, etd1 = 1, strang = s.keys.integrate.dealias and 1 or 2, etdrk2 = 2, etdrk4 = 4, rodas3 = 3 }
      -- A scheme's solution, and three times Richardson's estimate of its error.
      local function solve(scheme)
        local runs = {}
        for k, parts in ipairs { 16, 32 } do
          local c = copy(s)
          c.keys.integrate = { scheme = scheme, t_end = s.keys.integrate.t_end, dt = s.keys.integrate.t_end / parts, dealias = s.keys.integrate.dealias }
          runs[k] = T:ask(c)
        end
        local gap = {}
        for _, f in ipairs(s.keys.fields) do
          local most = 0
          for i, v in ipairs(runs[2].state[f.name]) do most = math.max(most, math.abs(v - runs[1].state[f.name][i])) end
          gap[f.name] = 3 * most / (2 ^ order[scheme] - 1)
        end
        return runs[2], gap
      end
      local r, e = solve(a.one)
      local q, f = solve(a.two)
      for _, u in ipairs(s.keys.fields) do
        T:near(("%s and %s, field %s"):format(a.one, a.two, u.name), r.state[u.name], q.state[u.name], e[u.name] + f[u.name] + 1e-9)
      end
    end },

  { name = "adaptive",
    applies = function(s) return still(s) and s.keys.rates and s.keys.precision ~= "single" and not (s.keys.rates.words:find("u_[xyz]")) end,
    prepare = function(s, R) -- strang has no error estimate with dealias, and does not run on a GPU
      local strang = not s.keys.integrate.dealias and R.chance(0.3)
      return { scheme = strang and "strang" or "etdrk4" }
    end,
    check = function(T, s, a)
      local c, d = copy(s), copy(s)
      c.keys.integrate = { scheme = a.scheme, t_end = s.keys.integrate.t_end, rtol = 1e-6, atol = 1e-9, dealias = s.keys.integrate.dealias }
      d.keys.integrate = { scheme = "etdrk4", t_end = s.keys.integrate.t_end, rtol = 1e-8, atol = 1e-11, dealias = s.keys.integrate.dealias }
      local r, q = T:ask(c, a.scheme == "strang" and { device = "cpu" } or nil), T:ask(d)
      -- Each of n steps adds a root mean square of rtol |u|; a cell may hold sqrt(cells) of it; stretched by at most exp(2).
      local cells = 1
      for _, n in ipairs(s.keys.grid.n) do cells = cells * n end
      for _, f in ipairs(s.keys.fields) do
        T:near("two tolerances, field " .. f.name, r.state[f.name], q.state[f.name],
          1.1e-6 * (top(r.state[f.name]) + 1e-3) * r.steps * math.sqrt(cells) * 8)
      end
    end },

  { name = "members", weight = 2,
    applies = function(s) return #s.keys.grid.n < 3 and still(s) and fixed_step(s) end,
    prepare = function(_, R) return { members = R.int(2, 5), change = R.uniform(0.1, 0.5) } end,
    check = function(T, s, a)
      local c, u = copy(s), s.keys.fields[1].initial
      if not scenario.is_text(u) then error({ refused = "no function to vary" }) end
      local names = table.concat(u.inputs, ", ")
      c.keys.members = a.members
      local words = "function(%s, member) return (%s)(%s) + %s * member end"
      local by = a.change
      c.keys.fields[1].initial = text(words:format(names, u.words, names, scenario.number(by)))
      local all = T:ask(c)
      local cells = #all.state.u / a.members
      for member = 1, a.members do
        local one = copy(s)
        one.keys.fields[1].initial = text(("function(%s) return (%s)(%s) + %s * %d end"):format(names, u.words, names, scenario.number(by), member))
        local r = T:ask(one)
        for _, f in ipairs(s.keys.fields) do
          local part = table.move(all.state[f.name], cells * (member - 1) + 1, cells * member, 1, {})
          T:near(("member %d and a run of its own, field %s"):format(member, f.name), part, r.state[f.name], bound(s, r))
        end
      end
    end },

  { name = "unit of length", applies = function(s)
      return still(s) and fixed_step(s) and not (s.keys.rates and s.keys.rates.words:find("u_[xyz]")) and not has(s.keys.rates, "x")
    end,
    check = function(T, s)
      local c, by = copy(s), 4
      for i = 1, #c.keys.grid.n do c.keys.grid.size[i] = c.keys.grid.size[i] * by end
      for _, f in ipairs(c.keys.fields) do
        f.D = (f.D or 0) * by ^ 2
        if f.hyper then f.hyper = f.hyper * by ^ 4 end
        if f.drift then for i = 1, 3 do f.drift[i] = f.drift[i] * by end end
        if f.tensor then f.tensor[1] = f.tensor[1] * by ^ 2 end
        if f.cross then f.cross = { f.cross[1] * by ^ 2, f.cross[2] * by ^ 2 } end
        for _, side in pairs(f.sides or {}) do
          if side.robin then side.robin.b = side.robin.b * by end
          if side.slope then side.slope = side.slope / by end
        end
        if scenario.is_text(f.initial) then f.initial = through(f.initial, { x = "x / 4", y = "y / 4", z = "z / 4" }) end
      end
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "in another unit of length", r, s, q, c, identity, bound(s, r))
    end },

  { name = "laws as functions", applies = function(s)
      for i = 1, #s.keys.grid.n do if kind_of(s, i) ~= "periodic" then return false end end
      return still(s)
    end,
    check = function(T, s)
      local c = copy(s)
      for _, f in ipairs(c.keys.fields) do
        if f.axes or f.tensor or f.drift or f.cross then error({ refused = "not a law of k2" }) end
        f.linear = fn("function(k2) return -%g * k2 - %g * k2^2 - %g end", f.D or 0, f.hyper or 0, f.decay or 0)
        f.D, f.hyper, f.decay = nil, nil, nil
      end
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "D, hyper and decay as a function of k2", r, s, q, c, identity, bound(s, r))
    end },

  { name = "walls of fields", weight = 2,
    -- Walls by the sides of fields, on a grid of the other kind: the series are then stored in another order.
    applies = function(s)
      for i = 1, #s.keys.grid.n do
        if kind_of(s, i) ~= "periodic" then return still(s) and not mixed(s) and ask.knows("diffusion", "sides") end
      end
      return false
    end,
    check = function(T, s)
      local c = copy(s)
      for i = 1, #s.keys.grid.n do
        local kind = kind_of(s, i)
        if kind ~= "periodic" then
          c.keys.grid[axes[i]] = kind == "fixed" and "no_flux" or "fixed"
          for _, f in ipairs(c.keys.fields) do
            local w = kind == "fixed" and f.walls or { 0, 0 }
            local key = kind == "fixed" and "value" or "slope"
            f.sides = f.sides or {}
            f.sides[axes[i] .. "_low"], f.sides[axes[i] .. "_high"] = { [key] = w[1] }, { [key] = w[2] }
          end
        end
      end
      for _, f in ipairs(c.keys.fields) do f.walls = nil end
      local r, q = T:ask(s), T:ask(c)
      same_fields(T, "walls of fields", r, s, q, c, identity, bound(s, r))
    end },

  { name = "padding", weight = 2,
    -- Rates on 3/2 as many cells: a grid of as many cells, with the same wavenumbers. First values are of wavenumbers
    -- that both have, so that the means of fields and of their squares are the same.
    applies = function(s)
      for _, f in ipairs(s.keys.fields) do if f.walls or f.sides or f.fluctuation then return false end end
      for i = 1, #s.keys.grid.n do if kind_of(s, i) == "fixed" then return false end end
      return still(s) and s.keys.rates and s.keys.integrate.scheme ~= "strang" and ask.knows("diffusion", "padding:")
    end,
    check = function(T, s)
      local c, d = copy(s), copy(s)
      c.keys.integrate.dealias, d.keys.integrate.dealias = "padding", true
      for i = 1, #d.keys.grid.n do d.keys.grid.n[i] = d.keys.grid.n[i] * 3 // 2 end
      local r, q = T:ask(c), T:ask(d)
      local b = bound(s, r)
      for _, f in ipairs(s.keys.fields) do
        local most = top(r.state[f.name])
        T:near("mean of " .. f.name, r:last("fields", f.name .. "_mean"), q:last("fields", f.name .. "_mean"), b)
        T:near("variance of " .. f.name, r:last("fields", f.name .. "_variance"), q:last("fields", f.name .. "_variance"), b * (1 + most * most))
      end
    end },

  { name = "derived fields and fluxes", weight = 2,
    applies = function(s)
      for _, f in ipairs(s.keys.fields) do if f.fluctuation then return false end end
      return still(s) and fixed_step(s) and s.keys.rates and s.keys.integrate.scheme ~= "strang" and ask.knows("diffusion", "derived")
    end,
    -- A Laplacian and a drift, small beside 1/dt at the highest wavenumber: as derivatives, as derived fields (p = u + a
    -- lap u, which has the values that walls hold), and the drift as a flux.
    check = function(T, s)
      local periodic, k2 = true, 0
      for i = 1, #s.keys.grid.n do
        periodic = periodic and kind_of(s, i) == "periodic"
        k2 = k2 + (math.pi * s.keys.grid.n[i] / s.keys.grid.size[i]) ^ 2
      end
      local drift = kind_of(s, 1) == "periodic"
      local a, c = scenario.number(0.2 / k2), scenario.number(0.2 / math.sqrt(k2))
      local function with(term, extra)
        local q, names = copy(s), table.move(s.keys.rates.inputs, 1, #s.keys.rates.inputs, 1, {})
        for _, name in ipairs(extra) do if not has(s.keys.rates, name) then names[#names + 1] = name end end
        local two = #s.keys.fields == 2
        q.keys.rates = text(("function(%s) local a, b = (%s)(%s) return a + %s%s end"):format(table.concat(names, ", "),
          s.keys.rates.words, table.concat(s.keys.rates.inputs, ", "), term, two and ", b" or ""))
        return q
      end
      local one = with(("%s*lap_u%s"):format(a, drift and (" - %s*u_x"):format(c) or ""), drift and { "lap_u", "u_x" } or { "lap_u" })
      local two = with(drift and "(p - u) - q" or "(p - u)", drift and { "p", "q", "u" } or { "p", "u" })
      two.keys.derived = { p = text(("function(k2, u) return u - %s*k2*u end"):format(a)), q = drift and text(("function(kx, u) return 0, %s*kx*u end"):format(c)) or nil }
      local r, q = T:ask(one), T:ask(two)
      same_fields(T, "derivatives and derived fields", r, s, q, two, identity, 10 * bound(s, r))
      if not periodic then return end
      local three, d, fluxes = with(("%s*lap_u"):format(a), { "lap_u" }), #s.keys.grid.n, {}
      for i = 1, d * #s.keys.fields do fluxes[i] = i == 1 and ("%s*u"):format(c) or "0" end
      three.keys.flux = text(("function(u) return %s end"):format(table.concat(fluxes, ", ")))
      same_fields(T, "derivatives and fluxes", r, s, T:ask(three), three, identity, 10 * bound(s, r))
    end },

  { name = "steps by a Courant number", weight = 2,
    applies = function(s)
      for i = 1, #s.keys.grid.n do if kind_of(s, i) == "fixed" then return false end end
      for _, f in ipairs(s.keys.fields) do if f.cross or f.fluctuation then return false end end
      return still(s) and fixed_step(s) and s.keys.rates and s.keys.integrate.dt and s.keys.integrate.scheme ~= "strang" and
        ask.knows("diffusion", "courant")
    end,
    -- One more field, which is always 1, as the velocity: the Courant number requires steps of h, the same as dt = h.
    check = function(T, s)
      local c, names, rate = copy(s), {}, 0
      local h = 2.0 ^ math.floor(math.log(s.keys.integrate.dt, 2))
      for i = 1, #s.keys.grid.n do names[i], rate = "q", rate + s.keys.grid.n[i] / s.keys.grid.size[i] end
      c.keys.fields[#c.keys.fields + 1] = { name = "q", initial = 1 }
      c.keys.rates = text(("function(%s) local a, b = (%s)(%s) return a, %s0 end"):format(table.concat(s.keys.rates.inputs, ", "),
        s.keys.rates.words, table.concat(s.keys.rates.inputs, ", "), #s.keys.fields == 2 and "b, " or ""))
      c.keys.integrate.dt, c.keys.integrate.t_end = h, h * math.max(1, math.floor(s.keys.integrate.t_end / h))
      local d = copy(c)
      d.keys.integrate.dt, d.keys.integrate.dt_max = nil, 2 * h
      d.keys.integrate.courant, d.keys.integrate.velocity = 1.5 * h * rate, table.concat(names, ", ")
      local r, q = T:ask(c), T:ask(d)
      same_fields(T, "steps by a Courant number and of their length", r, s, q, s, identity, bound(s, r))
    end },

  { name = "beside a second run",
    applies = function(s)
      return s.keys.rates and s.keys.integrate.dt and s.keys.integrate.scheme:find("^etd") and s.keys.precision ~= "single" and
        not s.keys.members and ask.knows("diffusion", "lyapunov")
    end,
    -- A Lyapunov exponent makes the same steps twice, and changes no bit of the run.
    check = function(T, s)
      local c = copy(s)
      c.keys.lyapunov = { every = s.keys.integrate.dt }
      same_fields(T, "with a Lyapunov exponent and without", T:ask(s), s, T:ask(c), c, identity, 0)
    end },

  { name = "precision", applies = function(s) return still(s) and fixed_step(s) end,
    check = function(T, s)
      local c, d = copy(s), copy(s)
      c.keys.precision, d.keys.precision = "single", "double"
      local r, q = T:ask(c), T:ask(d)
      same_fields(T, "single and double", r, s, q, c, identity, bound(c, r))
    end },

  { name = "conserved mass", applies = function(s)
      if mixed(s) then return false end
      for i = 1, #s.keys.grid.n do if kind_of(s, i) == "fixed" then return false end end
      return still(s)
    end,
    check = function(T, s)
      local c = copy(s)
      c.keys.rates, c.keys.integrate = nil, { t_end = s.keys.integrate.t_end }
      for _, f in ipairs(c.keys.fields) do f.decay = nil end
      local r = T:ask(c)
      for _, f in ipairs(c.keys.fields) do
        local mass = r.tables.fields[f.name .. "_mass"]
        local volume = 1
        for _, L in ipairs(c.keys.grid.size) do volume = volume * L end
        T:near("mass of " .. f.name, mass[1], mass[#mass], bound(c, r) * volume)
      end
    end },

  { name = "fluctuations",
    applies = function(s) return kind_of(s, 1) == "periodic" and #s.keys.grid.n == 1 and #s.keys.fields == 1 end,
    prepare = function(_, R) return { a = R.log(0.01, 1), mode = R.int(0, 4), dt = R.log(0.05, 6), scheme = R.pick("etd1", "etdrk2", "lie"), rate = R.uniform(0.5, 3) } end,
    check = function(T, s, a)
      local members, L = 256, s.keys.grid.size[1]
      local k = 2 * math.pi * a.mode / L
      local D, decay = s.keys.fields[1].D or 0, a.rate
      local lambda = D * k * k + decay
      local c = call("diffusion", { grid = { n = { 16 }, size = { L } }, members = members,
        fields = { { name = "u", D = D, decay = decay, fluctuation = a.a } },
        rates = text("function(u) return 0 * u end"),
        integrate = { scheme = a.scheme, dt = a.dt / lambda, t_end = 6 / lambda },
        seed = (s.keys.seed or 1) + T.stage, output = { snapshots = "ends", checkpoint = "never" } })
      local r = T:ask(c)
      local u, sum = r.state.u, 0
      local n = #u / members
      for m = 0, members - 1 do
        local re, im = 0, 0
        for i = 0, n - 1 do
          re = re + u[1 + m * n + i] * math.cos(k * (i + 0.5) * L / n) / n
          im = im + u[1 + m * n + i] * math.sin(k * (i + 0.5) * L / n) / n
        end
        sum = sum + (re * re + im * im) / members
      end
      local exact = a.a ^ 2 / (2 * lambda * L) * (1 - math.exp(-12))
      local degrees = a.mode == 0 and members or 2 * members
      -- A mean of squares of normals scatters by sqrt(2 / degrees) of its value.
      T:sure(("power of mode %d"):format(a.mode), sum / exact, math.sqrt(2 / degrees), 1, 0)
    end },

  { name = "tables and snapshots", weight = 2,
    prepare = function(s, R)
      local cell = {}
      for i = 1, 3 do cell[i] = R.int(0, (s.keys.grid.n[i] or 1) - 1) end
      return { cell = cell, slice = R.int(1, #s.keys.grid.n), stride = R.int(2, 3) }
    end,
    check = function(T, s, a)
      local c, n, size = copy(s), s.keys.grid.n, s.keys.grid.size
      local point, volume = {}, 1
      for i = 1, 3 do point[i] = n[i] and (a.cell[i] + 0.5) * size[i] / n[i] or 0 end
      for i = 1, #n do volume = volume * size[i] end
      c.keys.probes, c.keys.spectrum = { point }, 4
      c.keys.observe = { cube = fn("function(u) return u^3 end"), least = text('{ function(u) return u^2 end, reduce = "min" }') }
      c.keys.output.slices = { { name = "thin", stride = a.stride, when = "ends" } }
      if #n > 1 then c.keys.output.slices[2] = { name = "cut", when = "ends", [axes[a.slice]] = point[a.slice] } end
      local r = T:ask(c)
      -- Sums over the grid are rounded. The state is kept as coefficients, so the fields of a snapshot and of tables
      -- are rounded too.
      local b = bound(s, r)
      for _, f in ipairs(s.keys.fields) do
        local values, name = r.state[f.name], f.name
        local sum, squares, low, high, cubes, least = 0, 0, math.huge, -math.huge, 0, math.huge
        for _, v in ipairs(values) do
          sum, squares, low, high = sum + v, squares + v * v, math.min(low, v), math.max(high, v)
          cubes, least = cubes + v ^ 3, math.min(least, v * v)
        end
        local count = #values
        T:near("mean of " .. name, r:last("fields", name .. "_mean"), sum / count, b)
        T:near("variance of " .. name, r:last("fields", name .. "_variance"), squares / count - (sum / count) ^ 2, b * (1 + high * high))
        T:near("min of " .. name, r:last("fields", name .. "_min"), low, b)
        T:near("max of " .. name, r:last("fields", name .. "_max"), high, b)
        T:near("mass of " .. name, r:last("fields", name .. "_mass"), sum / count * volume, b * volume)
        T:near("probe of " .. name, r:last("probes", name .. "_1"), field(r, s, name)(table.unpack(a.cell)), b)
        local power = 0
        for column, rows in pairs(r.tables.spectrum) do if column:match("^" .. name .. "_%d+$") then power = power + rows[#rows] end end
        -- (of walls that mix value and slope, the integral over the box, not the sum over cells)
        if not mixed(s) then T:near("power of " .. name .. " over all bins", power, squares / count, b * (1 + high * high + low * low)) end
        if name == "u" then
          local most = math.max(math.abs(low), math.abs(high))
          T:near("integral of u^3", r:last("observe", "cube"), cubes / count * volume, b * volume * (1 + 3 * most ^ 2))
          T:near("least u^2", r:last("observe", "least"), least, b * (1 + 2 * most))
        end
        local function slice(of)
          local names = host.list(r.dir .. "/slices/" .. of)
          table.sort(names)
          for i = #names, 1, -1 do
            if names[i]:match("^snap.*h5$") then
              for path, list in pairs(host.read(r.dir .. "/slices/" .. of .. "/" .. names[i])) do
                if path:match("/meshes/" .. name .. "$") then return list end
              end
            end
          end
          T:disagree("slice " .. of, "no %s in it", name)
        end
        local thin, cut, k = {}, {}, a.stride
        each_cell(s, function(x, y, z)
          local v = field(r, s, name)(x, y, z)
          if x % k == 0 and y % k == 0 and z % k == 0 then thin[#thin + 1] = v end
          if ({ x, y, z })[a.slice] == a.cell[a.slice] then cut[#cut + 1] = v end
        end)
        T:near("thinned " .. name, slice("thin"), thin, 0)
        if #n > 1 then T:near("plane of " .. name, slice("cut"), cut, 0) end
      end
    end },

  -- Implicit steps on ranks and threads.
  { name = "implicit ranks", weight = 2,
    applies = function(s, options)
      if options.device == "cuda" or not s.keys.rates or not still(s) or not ask.knows("diffusion", "rodas3") then return false end
      for _, f in ipairs(s.keys.fields) do if f.cross then return false end end
      return true
    end,
    prepare = function(_, R) return { ranks = R.pick(2, 3, 4, 7), threads = R.int(1, 2) } end,
    check = function(T, s, a)
      local c, t_end = copy(s), s.keys.integrate.t_end / 4
      c.keys.integrate = { scheme = "rodas3", t_end = t_end, dt = t_end / 4, dealias = s.keys.integrate.dealias }
      local one, many = T:ask(c), T:ask(c, { threads = a.threads, words = { "--ranks", tostring(a.ranks) } })
      T:same("digests of implicit steps on 1 and more ranks", one.digest, many.digest)
    end },

  ask.threads_twin(function(s) return s.keys.precision ~= "single" end),
  ask.ranks_twin(),
  ask.resumed_twin(function(R) return R.int(1, 3) end, { snapshots = "every 2 steps", tables = "every 1 steps" }),

  -- The method of a GPU does not affect the CPU.
  { name = "method", weight = 1, applies = function(_, options) return options.device ~= "cuda" end,
    check = function(T, s)
      local c = copy(s)
      c.keys.integrate.method = "axes"
      T:same("digests with a method for GPUs", T:ask(s).digest, T:ask(c).digest)
    end },

  { name = "device", weight = 14, applies = function(_, options) return options.device == "cuda" end,
    check = function(T, s)
      local r, q = T:ask(s), T:ask(s, { device = "cpu" })
      same_fields(T, "on GPU and CPU", r, s, q, s, identity, bound(s, r) * (fixed_step(s) and 1 or 100))
    end },

  -- Slabs of planes on the GPU, and ranks that share them.
  { name = "slabs", weight = 8, applies = function(s, options) return options.device == "cuda" and in_slabs(s) end,
    prepare = function(_, R) return { ranks = R.pick(2, 3) } end,
    check = function(T, s, a)
      local c = copy(s)
      c.keys.integrate.method = "slabs"
      local r, q = T:ask(c), T:ask(s, { device = "cpu" })
      same_fields(T, "in slabs and on the CPU", r, c, q, s, identity, bound(s, r) * (fixed_step(s) and 1 or 100))
      local ranks = T:ask(c, { words = { "--ranks", tostring(a.ranks), "--oversubscribe" } })
      T:same("digests of 1 and more ranks in slabs", r.digest, ranks.digest)
    end },
}

return M
