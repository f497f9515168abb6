-- The ways to ask for flows.
local scenario, ask, draw = require "scenario", require "ask", require "fluid_draw"
local call, copy, text, number = scenario.call, scenario.copy, scenario.text, scenario.number
local M = { name = "fluid", draw = draw.draw }
local axes = draw.axes

-- ---- helpers ------------------------------------------------------------------------------------------------------

local function rank(s) return #s.keys.grid.n end
local function dx_of(s) return s.keys.grid.size[1] / s.keys.grid.n[1] end
-- Rounding, in units of `speed`. A step rounds the small terms of some 40 sums of moments, which are of the order of
-- the lattice's velocity dx/dt, 30 units at most. The steps add up at random, and a flow of so few steps stretches them
-- by less than 20. The pressure has the same bound relative to density (dx/dt)^2.
local function bounds(s, r)
  local eps = s.keys.precision == "single" and 2 ^ -24 or 2 ^ -53
  local lattice = dx_of(s) / s.keys.integrate.dt
  local u = eps * 30 * (1 + math.sqrt(r.steps or 40)) * 20 * lattice
  return u, u * lattice * (s.keys.density or 1)
end
-- Of temperatures: what the velocity's bound over that of the lattice does to how far they are apart, in the steps that it sums; and
-- rounding of the temperature itself.
local function warm_bound(s, r)
  local u = bounds(s, r)
  local low, high, most = math.huge, -math.huge, 0
  for _, T in ipairs(r.tables.heat.least) do low, most = math.min(low, T), math.max(most, math.abs(T)) end
  for _, T in ipairs(r.tables.heat.greatest) do high, most = math.max(high, T), math.max(most, math.abs(T)) end
  return 10 * u / (dx_of(s) / s.keys.integrate.dt) * (high - low) + 2 ^ -53 * 600 * (1 + math.sqrt(r.steps or 40)) * most
end
local function names_of(s)
  local names = {}
  for a = 1, rank(s) do names[a] = "velocity/" .. axes[a] end
  names[#names + 1] = "pressure"
  return names
end
local function at(s, i, j, k) return 1 + i + s.keys.grid.n[1] * (j + s.keys.grid.n[2] * k) end
local function each_cell(s, visit)
  local n = s.keys.grid.n
  for k = 0, (n[3] or 1) - 1 do for j = 0, n[2] - 1 do for i = 0, n[1] - 1 do visit(i, j, k) end end end
end
-- Compares every field of r with that of q at map(i, j, k); signs[a]: of the velocity along a; order[a]: which of q's it is.
local function same_flow(T, what, s, r, sq, q, map, signs, order)
  local u, p = bounds(s, r)
  for f, name in ipairs(names_of(s)) do
    local other = f <= rank(s) and order and "velocity/" .. axes[order[f]] or name
    local sign, a, b = f <= rank(s) and signs and signs[f] or 1, {}, {}
    each_cell(s, function(i, j, k)
      a[#a + 1] = r.state[name][at(s, i, j, k)]
      b[#b + 1] = sign * q.state[other][at(sq, map(i, j, k))]
    end)
    T:near(what .. ", " .. name, a, b, f <= rank(s) and u or p)
  end
  if r.state.temperature and q.state.temperature then
    local a, b = {}, {}
    each_cell(s, function(i, j, k)
      a[#a + 1] = r.state.temperature[at(s, i, j, k)]
      b[#b + 1] = q.state.temperature[at(sq, map(i, j, k))]
    end)
    T:near(what .. ", temperature", a, b, warm_bound(s, r))
  end
end
-- Compares the table `heat`: name(side) of q has the column of a side of r. A flux is a sum over the cells of a surface.
local function same_heat(T, what, s, r, q, name)
  if not s.keys.heat then return end
  local cells = 8
  for a = 1, rank(s) do cells = cells * s.keys.grid.n[a] end
  local bound = warm_bound(s, r)
  local flux = 8 * bound * (6 * cells ^ (1 - 1 / rank(s)) + 8) * dx_of(s) ^ (rank(s) - 1) * dx_of(s) / s.keys.integrate.dt
  for _, column in ipairs { "mean", "least", "greatest" } do
    T:near(what .. ", " .. column .. " temperature", r:last("heat", column), q:last("heat", column), bound)
  end
  for column, values in pairs(r.tables.heat) do
    local of = column:match("^flux_(.*)$")
    if of then T:near(what .. ", heat of " .. of, values, q.tables.heat["flux_" .. (name and name(of) or of)], flux) end
  end
end
local function identity(i, j, k) return i, j, k end

-- Force and torque on a body in the last row; absent components are nil.
local function load(r, name)
  local force, torque = {}, {}
  for a = 1, 3 do
    force[a], torque[a] = r:last("bodies", name .. "_f" .. axes[a]), r:last("bodies", name .. "_t" .. axes[a])
  end
  return force, torque
end
-- Compares loads: those of r with sign[a] and turn[a] times those of q along order[a]. A force is a sum over the links
-- of a surface of at most 6 n^(d-1) cells, each of density (dx/dt)^2 dx^d/dx.
local function same_loads(T, what, s, r, q, sign, turn, order)
  local _, p = bounds(s, r)
  local most, cells, dx = 0, 1, dx_of(s)
  for a = 1, rank(s) do most, cells = math.max(most, s.keys.grid.size[a]), cells * s.keys.grid.n[a] end
  for _, b in ipairs(s.keys.bodies or {}) do
    local bound = p * 6 * (cells ^ (1 - 1 / rank(s)) + 8) * dx ^ (rank(s) - 1)
    local f, t = load(r, b.keys.name)
    local g, o = load(q, b.keys.name)
    for a = 1, 3 do
      local c = order and order[a] or a
      if f[a] then T:near(("%s, force along %s on %s"):format(what, axes[a], b.keys.name), f[a], sign[a] * g[c], bound) end
      if t[a] then T:near(("%s, torque about %s on %s"):format(what, axes[a], b.keys.name), t[a], turn[a] * o[c], bound * most) end
    end
  end
end
local ones = { 1, 1, 1 }

-- Compares what is measured: gates[i] of q have the columns of those of r, flux_signs[i] of the flux; means, and without
-- bodies, whose surfaces may be as near as one likes, derived fields. signs, turn, order, map: as of same_flow, same_loads.
-- A difference of neighbours has twice the rounding of a velocity over half a cell at most.
local function same_measures(T, what, s, r, sq, q, map, signs, turn, order, flux_signs)
  local u, p = bounds(s, r)
  local d, dx, most = rank(s), dx_of(s), r:last("flow", "speed") + 1e3 * u
  order = order or { 1, 2, 3 }
  local function field(name, other, sign, bound)
    if not r.state[name] then return end
    local a, b = {}, {}
    each_cell(s, function(i, j, k)
      a[#a + 1] = r.state[name][at(s, i, j, k)]
      b[#b + 1] = sign * q.state[other][at(sq, map(i, j, k))]
    end)
    T:near(what .. ", " .. name, a, b, bound)
  end
  for a = 1, d do
    field("mean_velocity/" .. axes[a], "mean_velocity/" .. axes[order[a]], signs[a], u)
    for b = a, d do
      local low, high = math.min(order[a], order[b]), math.max(order[a], order[b])
      field("stress_" .. axes[a] .. axes[b], "stress_" .. axes[low] .. axes[high], signs[a] * signs[b], 4 * u * most)
    end
  end
  field("mean_pressure", "mean_pressure", 1, p)
  if s.keys.heat then field("mean_temperature", "mean_temperature", 1, warm_bound(s, r)) end
  if not s.keys.bodies then
    if d == 2 then field("vorticity", "vorticity", turn[3], 8 * u / dx) end
    for a = 1, d do field("vorticity/" .. axes[a], "vorticity/" .. axes[order[a]], turn[a], 8 * u / dx) end
    field("shear", "shear", 1, 20 * u / dx)
    field("q", "q", 1, 80 * u / dx * most / dx)
  end
  for i, gate in ipairs(s.keys.gates or {}) do
    local area, flux = 1, flux_signs and flux_signs[i] or 1
    for a = 1, d do if axes[a] ~= gate.axis then area = area * s.keys.grid.size[a] end end
    local bound = 4 * u * area * (s.keys.density or 1)
    T:near(("%s, flux of %s"):format(what, gate.name), r:last("gates", gate.name .. "_flux"), flux * q:last("gates", gate.name .. "_flux"), bound)
    T:near(("%s, pressure of %s"):format(what, gate.name), r:last("gates", gate.name .. "_pressure"), q:last("gates", gate.name .. "_pressure"), p)
    for a = 1, d do
      T:near(("%s, momentum along %s of %s"):format(what, axes[a], gate.name), r:last("gates", gate.name .. "_momentum_" .. axes[a]),
        flux * signs[a] * q:last("gates", gate.name .. "_momentum_" .. axes[order[a]]), 2 * bound * most)
    end
  end
  for i = 0, (s.keys.spectrum or 0) - 1 do
    local name = ("energy_%d"):format(i)
    T:near(what .. ", " .. name, r:last("spectrum", name), q:last("spectrum", name), 4 * u * most * math.max(table.unpack(s.keys.grid.size)))
  end
end

-- The function at another point, its results changed: `point` are expressions of x, y, z, `results` of a, b, c (velocity);
-- `pressure` one of p.
local function through(f, point, results, pressure)
  if not f then return nil end
  local inner = f.d == 2 and "a, b, p" or "a, b, c, p"
  return draw.fn(f.d, ("local %s = (%s)(%s) return %s%s"):format(inner, f.words, table.concat(point, ", ", 1, f.d),
    table.concat(results, ", ", 1, f.d), f.pressure and ", " .. (pressure or "p") or ""), f.pressure)
end

-- A force at another point, of other velocities and times, its results changed: `back` are expressions of ux, uy, uz.
local function pushed(f, point, back, results, time)
  if not f then return nil end
  return draw.push(f.d, ("local a, b, c = (%s)(%s, %s, %s%s) return %s"):format(f.words, table.concat(point, ", ", 1, f.d),
    time or "t", table.concat(back, ", ", 1, f.d), f.warm and ", T" or "", table.concat(results, ", ", 1, f.d)), f.warm)
end
-- The temperature of the start at another point.
local function warm_through(h, point)
  local f = h and h.initial
  if f then h.initial = draw.fn(f.d, ("return (%s)(%s)"):format(f.words, table.concat(point, ", ", 1, f.d))) end
end
local same_velocity, same_results = { "ux", "uy", "uz" }, { "a", "b", "c" }

-- Mirrors the scenario across an axis.
local function mirrored(s, axis)
  local c, L = copy(s), s.keys.grid.size[axis]
  local point, results = { "x", "y", "z" }, { "a", "b", "c" }
  point[axis] = ("%s - %s"):format(number(L), axes[axis])
  results[axis] = "-" .. results[axis]
  c.keys.initial = through(s.keys.initial, point, results)
  local back = { "ux", "uy", "uz" }
  back[axis] = "-" .. back[axis]
  c.keys.force = pushed(s.keys.force, point, back, results)
  if c.keys.acceleration then c.keys.acceleration[axis] = -c.keys.acceleration[axis] end
  for _, side in pairs(c.keys.sides or {}) do if side.velocity then side.velocity[axis] = -side.velocity[axis] end end
  for _, gate in ipairs(c.keys.gates or {}) do
    local range = gate[axes[axis]]
    if gate.axis == axes[axis] then gate.at = L - gate.at end
    if range then gate[axes[axis]] = { L - range[2], L - range[1] } end
  end
  local low, high, h = axes[axis] .. "_low", axes[axis] .. "_high", c.keys.heat
  for _, sides in ipairs { c.keys.sides or {}, h or {}, h and h.flux or {} } do sides[low], sides[high] = sides[high], sides[low] end
  if h and h.gravity then h.gravity[axis] = -h.gravity[axis] end
  warm_through(h, point)
  for _, b in ipairs(c.keys.bodies or {}) do
    local k = b.keys
    if k.low then
      k.low[axis], k.high[axis] = L - k.high[axis], L - k.low[axis]
    else
      k.point[axis] = L - k.point[axis]
      if k.velocity then k.velocity[axis] = -k.velocity[axis] end
      if k.spin and (k.axis or { 0, 0, 1 })[axis] == 0 then k.spin = -k.spin end
    end
  end
  return c
end

-- The text of an STL file of a block.
local function stl_of(low, high)
  local faces, out = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 }, { 2, 6, 7, 3 }, { 0, 2, 3, 1 }, { 4, 5, 7, 6 } }, { "solid block" }
  local function vertex(corner)
    local x = {}
    for a = 1, 3 do x[a] = number((corner >> (a - 1)) & 1 == 1 and high[a] or low[a]) end
    out[#out + 1] = "vertex " .. table.concat(x, " ")
  end
  for _, f in ipairs(faces) do
    for half = 2, 3 do
      out[#out + 1] = "facet normal 0 0 0 outer loop"
      vertex(f[1]) vertex(f[half]) vertex(f[half + 1])
      out[#out + 1] = "endloop endfacet"
    end
  end
  return table.concat(out, "\n") .. "\nendsolid\n"
end

local function moves(s)
  for _, b in ipairs(s.keys.bodies or {}) do if b.keys.velocity then return true end end
end
local function drifts(s) -- a body whose velocity is 0 rests, and makes steps of another kind than one whose motion is 0
  for _, b in ipairs(s.keys.bodies or {}) do
    for _, u in ipairs(b.keys.velocity or {}) do if u ~= 0 then return true end end
  end
end
local function has_bodies(s) return s.keys.bodies ~= nil end
local function overlap(s) -- boxes around bodies that meet, or that reach a side
  local function range(b, a)
    local k = b.keys
    if k.low then return k.low[a], k.high[a] end
    if k.inside or b.name == "cylinder" and (k.axis or { 0, 0, 1 })[a] ~= 0 then return -math.huge, math.huge end
    return k.point[a] - k.radius, k.point[a] + k.radius
  end
  local list = s.keys.bodies or {}
  if #list < 2 then return false end
  for a = 1, rank(s) do
    local low, high = range(list[1], a)
    local from, to = range(list[2], a)
    if s.keys.grid[axes[a]] ~= "periodic" and (high < from or to < low) then return false end
  end
  return true
end

-- An axis with sides that slip, across which everything may have a mirror image.
local function slips(s)
  local found
  if s.keys.force then return nil end
  for a = 1, rank(s) do
    local good = s.keys.grid[axes[a]] == "slip" and not (s.keys.acceleration and s.keys.acceleration[a] ~= 0)
    for _, side in pairs(s.keys.sides or {}) do good = good and not (side.velocity and side.velocity[a] ~= 0) end
    local h = s.keys.heat or {}
    good = good and not (h.gravity and h.gravity[a] ~= 0)
    for _, which in ipairs { "_low", "_high" } do good = good and not h[axes[a] .. which] and not (h.flux and h.flux[axes[a] .. which]) end
    for _, b in ipairs(s.keys.bodies or {}) do good = good and not b.keys.inside end
    if good then found = a end
  end
  return found
end

-- ---- the twins ----------------------------------------------------------------------------------------------------

M.twins = {
  { name = "mirrored", weight = 3,
    prepare = function(s, R) return { axis = R.int(1, rank(s)) } end,
    check = function(T, s, a)
      local c, n, signs, turn = mirrored(s, a.axis), s.keys.grid.n[a.axis], { 1, 1, 1 }, { -1, -1, -1 }
      local r, q = T:ask(s), T:ask(c)
      signs[a.axis], turn[a.axis] = -1, 1
      local function image(...)
        local cell = { ... }
        cell[a.axis] = n - 1 - cell[a.axis]
        return table.unpack(cell)
      end
      local flux = {}
      for i, gate in ipairs(s.keys.gates or {}) do flux[i] = gate.axis == axes[a.axis] and -1 or 1 end
      same_flow(T, "mirrored along " .. axes[a.axis], s, r, c, q, image, signs)
      same_loads(T, "mirrored along " .. axes[a.axis], s, r, q, signs, turn)
      same_heat(T, "mirrored along " .. axes[a.axis], s, r, q, function(name)
        local x, which = name:match("^([xyz])_(%a+)$")
        return x == axes[a.axis] and x .. (which == "low" and "_high" or "_low") or name
      end)
      same_measures(T, "mirrored along " .. axes[a.axis], s, r, c, q, image, signs, turn, nil, flux)
    end },

  { name = "axes swapped", weight = 3,
    prepare = function(s, R)
      local order = {}
      for i = 1, rank(s) do order[i] = i end
      return { order = R.shuffle(order) }
    end,
    check = function(T, s, a)
      local c, d, sign, to = copy(s), rank(s), 1, { 1, 2, 3 } -- to[old axis] = new axis
      for new, old in ipairs(a.order) do to[old] = new end
      for i = 1, d do for j = 1, i - 1 do if a.order[j] > a.order[i] then sign = -sign end end end
      local function vector(v)
        local out = copy(v)
        for old = 1, d do out[to[old]] = v[old] end
        return out
      end
      local point, results, letters = {}, {}, { "a", "b", "c" }
      for old = 1, d do
        point[old], results[to[old]] = axes[to[old]], letters[old]
        c.keys.grid[axes[to[old]]] = s.keys.grid[axes[old]]
      end
      c.keys.grid.n, c.keys.grid.size = vector(s.keys.grid.n), vector(s.keys.grid.size)
      c.keys.initial = through(s.keys.initial, point, results)
      local back = {}
      for old = 1, d do back[old] = "u" .. axes[to[old]] end
      c.keys.force = pushed(s.keys.force, point, back, results)
      if c.keys.acceleration then c.keys.acceleration = vector(s.keys.acceleration) end
      local function side_of(name)
        local x, which = name:match("^([xyz])(_%a+)$")
        for old = 1, d do if x == axes[old] then return axes[to[old]] .. which end end
        return name
      end
      if s.keys.heat then
        local h = c.keys.heat
        for _, sides in ipairs { "heat", "flux" } do
          local from = sides == "heat" and s.keys.heat or s.keys.heat.flux or {}
          local new = sides == "heat" and h or h.flux or {}
          for name in pairs(from) do if name:match("^[xyz]_") then new[name] = nil end end
          for name, value in pairs(from) do if name:match("^[xyz]_") then new[side_of(name)] = value end end
        end
        if h.gravity then h.gravity = vector(h.gravity) end
        warm_through(h, point)
      end
      if s.keys.sides then
        c.keys.sides = {}
        for name, side in pairs(s.keys.sides) do
          for old = 1, d do
            local which = name:match("^" .. axes[old] .. "(_%a+)$")
            if which then
              c.keys.sides[axes[to[old]] .. which] = { velocity = side.velocity and vector(side.velocity), pressure = side.pressure, sponge = side.sponge, straight = side.straight }
            end
          end
        end
      end
      for i, gate in ipairs(s.keys.gates or {}) do
        local new = { name = gate.name, at = gate.at }
        for old = 1, d do
          if gate.axis == axes[old] then new.axis = axes[to[old]] end
          new[axes[to[old]]] = gate[axes[old]]
        end
        c.keys.gates[i] = new
      end
      for i, b in ipairs(c.keys.bodies or {}) do
        local k, from = b.keys, s.keys.bodies[i].keys
        for _, key in ipairs { "low", "high", "point", "axis", "velocity" } do if from[key] then k[key] = vector(from[key]) end end
        if k.spin then k.spin = sign * k.spin end
      end
      local r, q = T:ask(s), T:ask(c)
      local what = "axes in the order " .. table.concat(a.order, "")
      local function place(...)
        local old, new = { ... }, { 0, 0, 0 }
        for i = 1, d do new[to[i]] = old[i] end
        return table.unpack(new)
      end
      same_flow(T, what, s, r, c, q, place, nil, to)
      same_loads(T, what, s, r, q, ones, { sign, sign, sign }, to)
      same_heat(T, what, s, r, q, side_of)
      same_measures(T, what, s, r, c, q, place, ones, { sign, sign, sign }, to)
    end },

  { name = "shifted", weight = 2, applies = function(s) return s.keys.grid.x == "periodic" end,
    prepare = function(s, R) return { cells = R.int(1, s.keys.grid.n[1] - 1) } end,
    check = function(T, s, a)
      s = copy(s)
      for _, gate in ipairs(s.keys.gates or {}) do gate.x = nil end -- no range across the side
      local c, n, by = copy(s), s.keys.grid.n[1], a.cells * dx_of(s)
      for _, gate in ipairs(c.keys.gates or {}) do
        if gate.axis == "x" then gate.at = (gate.at + by) % s.keys.grid.size[1] end
      end
      c.keys.initial = through(s.keys.initial, { "x - " .. number(by), "y", "z" }, { "a", "b", "c" })
      c.keys.force = pushed(s.keys.force, { "x - " .. number(by), "y", "z" }, same_velocity, same_results)
      warm_through(c.keys.heat, { "x - " .. number(by), "y", "z" })
      for _, b in ipairs(c.keys.bodies or {}) do
        for _, key in ipairs { "low", "high", "point" } do if b.keys[key] then b.keys[key][1] = b.keys[key][1] + by end end
      end
      local r, q = T:ask(s), T:ask(c)
      local function place(i, j, k) return (i + a.cells) % n, j, k end
      same_flow(T, "shifted by cells", s, r, c, q, place)
      same_loads(T, "shifted by cells", s, r, q, ones, ones)
      same_heat(T, "shifted by cells", s, r, q)
      same_measures(T, "shifted by cells", s, r, c, q, place, ones, ones)
    end },

  { name = "slip and its mirror image", weight = 2, applies = slips,
    check = function(T, s)
      local axis = slips(s)
      local c, n, L = copy(s), s.keys.grid.n[axis], s.keys.grid.size[axis]
      c.keys.grid.n[axis], c.keys.grid.size[axis], c.keys.grid[axes[axis]] = 2 * n, 2 * L, "periodic"
      local point, results = { "x", "y", "z" }, { "a", "b", "c" }
      local x = axes[axis]
      point[axis] = ("%s - math.abs(%s - %s)"):format(number(L), number(L), x)
      results[axis] = ("sim.where(sim.lt(%s, %s), %s, -%s)"):format(x, number(L), results[axis], results[axis])
      c.keys.initial = through(s.keys.initial, point, results)
      warm_through(c.keys.heat, point)
      local image = mirrored(s, axis)
      for i, b in ipairs(image.keys.bodies or {}) do
        local k = copy(b)
        k.keys.name = b.keys.name .. "_image"
        for _, key in ipairs { "low", "high", "point" } do if k.keys[key] then k.keys[key][axis] = k.keys[key][axis] + L end end
        table.insert(c.keys.bodies, k)
      end
      local r, q = T:ask(s), T:ask(c)
      same_flow(T, "slip along " .. x .. " and both halves", s, r, c, q, identity)
    end },

  { name = "velocity and profile", weight = 2,
    applies = function(s)
      for _, side in pairs(s.keys.sides or {}) do if side.velocity then return true end end
    end,
    check = function(T, s)
      local c = copy(s)
      for _, side in pairs(c.keys.sides) do
        if side.velocity then
          local words = {}
          for a = 1, rank(s) do words[a] = number(side.velocity[a]) end
          side.profile, side.velocity = draw.fn(rank(s), "return " .. table.concat(words, ", ")), nil
        end
      end
      T:same("digests with `velocity` and `profile`", T:ask(s).digest, T:ask(c).digest)
    end },

  { name = "what is at rest", applies = function(s) return s.keys.grid.x == "wall" or s.keys.grid.y == "wall" end,
    check = function(T, s)
      local c, zero = copy(s), {}
      for a = 1, rank(s) do zero[a] = 0 end
      c.keys.sides = c.keys.sides or {}
      for a = 1, rank(s) do
        for _, which in ipairs { "_low", "_high" } do
          local name = axes[a] .. which
          if s.keys.grid[axes[a]] == "wall" and not c.keys.sides[name] then c.keys.sides[name] = { velocity = zero } end
        end
      end
      c.keys.acceleration = c.keys.acceleration or zero
      if not c.keys.initial then c.keys.initial = draw.fn(rank(s), "return 0, 0" .. (rank(s) == 3 and ", 0" or "")) end
      for _, b in ipairs(c.keys.bodies or {}) do if not b.keys.low then b.keys.spin = b.keys.spin or 0 end end
      T:same("digests with and without what is 0", T:ask(s).digest, T:ask(c).digest)
    end },

  { name = "units", weight = 2,
    prepare = function(_, R) return { length = 2.0 ^ R.int(-3, 3), time = 2.0 ^ R.int(-3, 3), density = 2.0 ^ R.int(-3, 3) } end,
    check = function(T, s, a)
      local c, L, U = copy(s), a.length, a.length / a.time
      local function scale(v, by) for i in ipairs(v or {}) do v[i] = v[i] * by end end
      scale(c.keys.grid.size, L)
      c.keys.speed, c.keys.viscosity = s.keys.speed * U, s.keys.viscosity * L * U
      c.keys.density = (s.keys.density or 1) * a.density
      scale(c.keys.acceleration, U / a.time)
      local h = c.keys.heat
      if h then
        h.diffusivity = h.diffusivity * L * U
        scale(h.gravity, U / a.time)
        for name, flux in pairs(h.flux or {}) do h.flux[name] = flux * U end
      end
      c.keys.integrate.dt, c.keys.integrate.t_end = s.keys.integrate.dt * a.time, s.keys.integrate.t_end * a.time
      for _, side in pairs(c.keys.sides or {}) do
        scale(side.velocity, U)
        if side.sponge then side.sponge = side.sponge * L end
      end
      for _, gate in ipairs(c.keys.gates or {}) do
        gate.at = gate.at * L
        scale(gate.x, L) scale(gate.y, L) scale(gate.z, L)
      end
      if c.keys.average and c.keys.average.from then c.keys.average.from = c.keys.average.from * a.time end
      for _, b in ipairs(c.keys.bodies or {}) do
        local k = b.keys
        scale(k.low, L) scale(k.high, L) scale(k.point, L)
        if k.radius then k.radius = k.radius * L end
        scale(k.velocity, U)
        if k.spin then k.spin = k.spin / a.time end
        if k.flux then k.flux = k.flux * U end
      end
      local by, u = number(1 / L), number(U)
      c.keys.initial = through(s.keys.initial, { "x * " .. by, "y * " .. by, "z * " .. by },
        { "a * " .. u, "b * " .. u, "c * " .. u }, "p * " .. number(U * U * a.density))
      warm_through(h, { "x * " .. by, "y * " .. by, "z * " .. by })
      local back, more = number(1 / U), number(U / a.time)
      c.keys.force = pushed(s.keys.force, { "x * " .. by, "y * " .. by, "z * " .. by },
        { "ux * " .. back, "uy * " .. back, "uz * " .. back }, { "a * " .. more, "b * " .. more, "c * " .. more }, "t * " .. number(1 / a.time))
      local r, q = T:ask(s), T:ask(c)
      for f, name in ipairs(names_of(s)) do
        local factor, values = f <= rank(s) and U or U * U * a.density, {}
        for i, v in ipairs(q.state[name]) do values[i] = v / factor end
        T:near("in other units, " .. name, r.state[name], values, select(f <= rank(s) and 1 or 2, bounds(s, r)))
      end
      if h then T:near("in other units, temperature", r.state.temperature, q.state.temperature, warm_bound(s, r)) end
    end },

  { name = "a wall and a block", weight = 2,
    applies = function(s)
      return s.keys.grid.y == "wall" and not (s.keys.sides and (s.keys.sides.y_low or s.keys.sides.y_high)) and not has_bodies(s)
    end,
    prepare = function(_, R) return { cells = R.int(1, 4) } end,
    check = function(T, s, a)
      local c, height = copy(s), a.cells * dx_of(s)
      c.keys.grid.n[2], c.keys.grid.size[2] = s.keys.grid.n[2] + a.cells, s.keys.grid.size[2] + height
      local low, high = { 0, 0, 0 }, { 0, h, 0 }
      for i = 1, rank(s) do
        local L = s.keys.grid.size[i]
        low[i], high[i] = i == 2 and -height or -L, i == 2 and height or 2 * L
      end
      local h = c.keys.heat or {}
      c.keys.bodies = { call("block", { name = "floor", low = low, high = high, temperature = h.y_low, flux = h.flux and h.flux.y_low }) }
      h.y_low = nil
      if h.flux then h.flux.y_low = nil end
      warm_through(h, { "x", "y - " .. number(height), "z" })
      c.keys.initial = through(s.keys.initial, { "x", "y - " .. number(height), "z" }, { "a", "b", "c" })
      c.keys.force = pushed(s.keys.force, { "x", "y - " .. number(height), "z" }, same_velocity, same_results)
      local r, q = T:ask(s), T:ask(c)
      same_flow(T, "a wall and a block in its place", s, r, c, q, function(i, j, k) return i, j + a.cells, k end)
    end },

  -- Cuts of triangles and of the block differ by roundings of a cell.
  { name = "a block and its file", weight = 2,
    applies = function(s)
      if rank(s) == 2 or not has_bodies(s) then return false end
      for _, b in ipairs(s.keys.bodies) do if b.keys.low then return true end end
    end,
    check = function(T, s)
      local c = copy(s)
      for i, b in ipairs(c.keys.bodies) do
        if b.keys.low then
          local name = "block" .. i .. ".stl"
          T:file(name, stl_of(b.keys.low, b.keys.high))
          c.keys.bodies[i] = call("stl", { name = b.keys.name, path = name, temperature = b.keys.temperature, flux = b.keys.flux })
        end
      end
      local r, q = T:ask(s), T:ask(c)
      same_flow(T, "a block and its file", s, r, c, q, identity)
      same_loads(T, "a block and its file", s, r, q, ones, ones)
      same_heat(T, "a block and its file", s, r, q)
    end },

  { name = "bodies in another order", applies = function(s) return s.keys.bodies and #s.keys.bodies == 2 and not overlap(s) end,
    check = function(T, s)
      local c = copy(s)
      c.keys.bodies[1], c.keys.bodies[2] = c.keys.bodies[2], c.keys.bodies[1]
      local r, q = T:ask(s), T:ask(c)
      same_flow(T, "bodies in another order", s, r, c, q, identity)
      same_loads(T, "bodies in another order", s, r, q, ones, ones)
      same_heat(T, "bodies in another order", s, r, q)
    end },

  -- Displacements are sums over steps, or products: they differ by the rounding of a displacement of some cells.
  { name = "velocity and motion", weight = 2, applies = drifts,
    check = function(T, s)
      local c = copy(s)
      for _, b in ipairs(c.keys.bodies) do
        if b.keys.velocity then
          local words = {}
          for a = 1, rank(s) do words[a] = number(b.keys.velocity[a]) end
          b.keys.motion, b.keys.velocity = text(("function(t) return %s end"):format(table.concat(words, ", "))), nil
        end
      end
      local r, q = T:ask(s), T:ask(c)
      same_flow(T, "velocity and motion", s, r, c, q, identity)
      same_loads(T, "velocity and motion", s, r, q, ones, ones)
    end },

  -- The momentum that the fluid loses in a step is the momentum that bodies receive in it, by the table.
  { name = "momentum and forces", weight = 3,
    applies = function(s) return has_bodies(s) and not moves(s) end, -- what a body covers takes momentum with it
    check = function(T, s)
      local c, d = copy(s), rank(s)
      c.keys.sides, c.keys.acceleration, c.keys.force, c.keys.heat = nil, nil, nil, nil
      for _, b in ipairs(c.keys.bodies) do b.keys.temperature, b.keys.flux = nil, nil end
      if c.keys.turbulence then c.keys.turbulence.prandtl = nil end
      for a = 1, d do c.keys.grid[axes[a]] = "periodic" end
      local r = T:ask(c)
      local u = bounds(c, r)
      local mass = r.tables.flow.mass
      for a = 1, d do
        local p, lost, got = r.tables.flow["momentum_" .. axes[a]], {}, {}
        for k = 1, #p - 1 do
          lost[k], got[k] = p[k] - p[k + 1], 0
          for _, b in ipairs(c.keys.bodies) do got[k] = got[k] + c.keys.integrate.dt * r.tables.bodies[b.keys.name .. "_f" .. axes[a]][k] end
        end
        T:near("momentum along " .. axes[a], lost, got, u * mass[1])
      end
      T:near("mass", mass[1], mass[#mass], u / (dx_of(c) / c.keys.integrate.dt) * mass[1])
    end },

  -- A scalar without buoyancy leaves the flow alone, to the bit, and no heat passes adiabatic sides and bodies. One whose gravity is so
  -- small that it pushes by 1e-20 has the same flow to rounding.
  { name = "a passive scalar", weight = 2,
    applies = function(s)
      for _, side in pairs(s.keys.sides or {}) do if side.pressure then return false end end
      return not moves(s) and not s.keys.collision and not s.keys.heat
    end,
    prepare = function(_, R) return { ratio = R.log(0.5, 2), waves = R.int(1, 2) } end,
    check = function(T, s, a)
      local c, d = copy(s), copy(s)
      c.keys.heat = { diffusivity = a.ratio * s.keys.viscosity * 0.6, reference = 300,
        initial = draw.fn(rank(s), ("return 300 + math.cos(%s * x)"):format(number(2 * math.pi * a.waves / s.keys.grid.size[1]))) }
      d.keys.heat = copy { keys = c.keys.heat }.keys
      d.keys.heat.expansion, d.keys.heat.gravity = 1, {}
      for i = 1, rank(s) do d.keys.heat.gravity[i] = 1e-20 end
      local r, q, p = T:ask(s), T:ask(c), T:ask(d)
      for _, name in ipairs(names_of(s)) do T:near("with a passive scalar, " .. name, r.state[name], q.state[name], 0) end
      same_flow(T, "with hardly any buoyancy", s, r, d, p, identity)
      local mean = q.tables.heat.mean
      T:near("mean temperature", mean[1], mean[#mean], 1e-11)
      T:near("bounds of the temperature", 300, (q:last("heat", "least") + q:last("heat", "greatest")) / 2, 1)
    end },

  -- A wall with a temperature is a block with it that covers cells beyond. (At edges of sides with a velocity the flow is not.)
  { name = "a warm wall and a warm block", weight = 2,
    applies = function(s)
      return s.keys.grid.y == "wall" and not s.keys.sides and not has_bodies(s) and not s.keys.collision and not s.keys.heat
    end,
    prepare = function(_, R) return { cells = R.int(1, 4), ratio = R.log(0.5, 2), apart = R.log(0.1, 10) } end,
    check = function(T, s, a)
      local c, h = copy(s), a.cells * dx_of(s)
      local low, high = { 0, 0, 0 }, { 0, h, 0 }
      c.keys.grid.n[2], c.keys.grid.size[2] = s.keys.grid.n[2] + a.cells, s.keys.grid.size[2] + h
      for i = 1, rank(s) do
        local L = s.keys.grid.size[i]
        low[i], high[i] = i == 2 and -h or -L, i == 2 and h or 2 * L
      end
      c.keys.bodies = { call("block", { name = "floor", low = low, high = high, temperature = a.apart }) }
      c.keys.initial = through(s.keys.initial, { "x", "y - " .. number(h), "z" }, { "a", "b", "c" })
      c.keys.force = pushed(s.keys.force, { "x", "y - " .. number(h), "z" }, same_velocity, same_results)
      local w = copy(s)
      w.keys.heat = { diffusivity = a.ratio * s.keys.viscosity * 0.6, y_low = a.apart, y_high = -a.apart }
      c.keys.heat = { diffusivity = w.keys.heat.diffusivity, y_high = -a.apart }
      local r, q = T:ask(w), T:ask(c)
      T:near("heat of a wall and a block", r:last("heat", "flux_y_low"), q:last("heat", "flux_floor"),
        1e-6 * math.abs(r:last("heat", "flux_y_low")) + 1e-9 * a.apart * w.keys.heat.diffusivity * s.keys.grid.size[1])
      T:near("mean of a wall and a block", r:last("heat", "mean"), q:last("heat", "mean"), 1e-7 * a.apart)
    end },

  -- Where the fluid neither enters nor leaves, what it has gains in a step the heat that sides and bodies give it, by the table.
  { name = "heat and its fluxes", weight = 4,
    applies = function(s)
      for _, side in pairs(s.keys.sides or {}) do if side.pressure then return false end end
      return s.keys.heat and not (s.keys.initial and s.keys.initial.pressure)
    end,
    check = function(T, s)
      local r = T:ask(s)
      local volume, cell = r.tables.flow.mass[1] / (s.keys.density or 1), dx_of(s) ^ rank(s)
      volume = cell * math.floor(volume / cell + 0.5)
      local gained, given, mean = {}, {}, r.tables.heat.mean
      for k = 1, #mean - 1 do
        gained[k], given[k] = (mean[k + 1] - mean[k]) * volume, 0
        for column, values in pairs(r.tables.heat) do if column:match("^flux_") then given[k] = given[k] + s.keys.integrate.dt * values[k] end end
      end
      T:near("heat of a step", gained, given, warm_bound(s, r) * volume)
    end },

  -- What a snapshot has of temperatures the table has too.
  { name = "temperatures of table and snapshot", weight = 1, applies = function(s) return s.keys.heat and not has_bodies(s) end,
    check = function(T, s)
      local r, sum, least, greatest = T:ask(s), 0, math.huge, -math.huge
      for _, value in ipairs(r.state.temperature) do sum, least, greatest = sum + value, math.min(least, value), math.max(greatest, value) end
      local bound = warm_bound(s, r)
      T:near("mean temperature", r:last("heat", "mean"), sum / #r.state.temperature, bound)
      T:near("least temperature", r:last("heat", "least"), least, bound)
      T:near("greatest temperature", r:last("heat", "greatest"), greatest, bound)
    end },

  -- C = 1e-6 adds (1e-6 cell)^2 |strain|: less than 1e-11 of the lattice's velocity a step, |strain| being below one.
  { name = "hardly an eddy viscosity", weight = 2, applies = function(s) return not s.keys.collision end,
    check = function(T, s)
      local c, none = copy(s), copy(s)
      c.keys.turbulence, none.keys.turbulence = { smagorinsky = 1e-6 }, nil
      local r, q = T:ask(none), T:ask(c)
      local u, p = bounds(s, r)
      local lattice = dx_of(s) / s.keys.integrate.dt
      local more = 1e-11 * r.steps
      for f, name in ipairs(names_of(s)) do
        T:near("with hardly an eddy viscosity, " .. name, r.state[name], q.state[name],
          f <= rank(s) and u + more * lattice or p + more * lattice ^ 2 * (s.keys.density or 1))
      end
    end },

  { name = "precision", weight = 2,
    check = function(T, s)
      local c, d = copy(s), copy(s)
      c.keys.precision, d.keys.precision = "single", nil
      local r, q = T:ask(c), T:ask(d)
      same_flow(T, "single and double", c, r, d, q, identity)
      same_loads(T, "single and double", c, r, q, ones, ones)
    end },

  { name = "tables and snapshots", weight = 2,
    prepare = function(s, R)
      local cell = {}
      for i = 1, 3 do cell[i] = R.int(0, (s.keys.grid.n[i] or 1) - 1) end
      return { cell = cell }
    end,
    check = function(T, s, a)
      local c, point, d = copy(s), {}, rank(s)
      for i = 1, 3 do point[i] = i <= d and (a.cell[i] + 0.5) * dx_of(s) or 0 end
      c.keys.probes = { point }
      local r = T:ask(c) -- refused where the probe is in a body
      local u, p = bounds(s, r)
      local density, lattice, dx = s.keys.density or 1, dx_of(s) / s.keys.integrate.dt, dx_of(s)
      local mass, kinetic, most, momentum, cells = 0, 0, 0, { 0, 0, 0 }, 0
      each_cell(s, function(i, j, k)
        local v, square = {}, 0
        for b = 1, d do
          v[b] = r.state["velocity/" .. axes[b]][at(s, i, j, k)]
          square = square + v[b] ^ 2
        end
        local pressure = r.state.pressure[at(s, i, j, k)]
        local rho = density + 3 * pressure / lattice ^ 2
        if square == 0 and pressure == 0 then return end -- in a body, or at rest
        cells = cells + 1
        mass, kinetic, most = mass + rho, kinetic + rho * square / 2, math.max(most, math.sqrt(square))
        for b = 1, d do momentum[b] = momentum[b] + rho * v[b] end
      end)
      local whole = r:last("flow", "mass") -- cells at rest have the density alone
      T:near("kinetic energy", r:last("flow", "kinetic"), kinetic * dx ^ d, u * (most + u) * 2 * whole)
      T:near("greatest speed", r:last("flow", "speed"), most, 2 * u)
      T:near("Mach number", r:last("flow", "mach"), math.sqrt(3) * most / lattice, 4 * u / lattice)
      for b = 1, d do T:near("momentum along " .. axes[b], r:last("flow", "momentum_" .. axes[b]), momentum[b] * dx ^ d, 2 * u * whole) end
      if cells == #r.state.pressure then T:near("mass", whole, mass * dx ^ d, u / lattice * whole) end
      for b = 1, d do
        T:near("probe of the velocity", r:last("probes", "velocity_" .. axes[b] .. "_1"),
          r.state["velocity/" .. axes[b]][at(s, table.unpack(a.cell))], 0)
      end
      T:near("probe of the pressure", r:last("probes", "pressure_1"), r.state.pressure[at(s, table.unpack(a.cell))], 0)
    end },

  -- What is measured is what snapshots give: gates by sums over cells, the spectrum by its sum (Parseval), derived fields
  -- by differences of neighbours, means over the snapshots of all steps.
  { name = "measures and snapshots", weight = 5,
    applies = function(s) return s.keys.gates or s.keys.spectrum or s.keys.average or s.keys.output and s.keys.output.fields end,
    check = function(T, s)
      local c, d, dx, n = copy(s), rank(s), dx_of(s), s.keys.grid.n
      if s.keys.average then c.keys.output.snapshots = "every 1 steps" end
      local r = T:ask(c)
      local u, p = bounds(s, r)
      local density, lattice, most = s.keys.density or 1, dx_of(s) / s.keys.integrate.dt, r:last("flow", "speed") + 1e3 * u
      local function velocity(a, i, j, k) return r.state["velocity/" .. axes[a]][at(s, i, j, k)] end
      for _, gate in ipairs(s.keys.gates or {}) do
        local function part(a, i)
          local cells, range = n[a] / s.keys.grid.size[a], gate[axes[a]]
          if gate.axis ~= axes[a] then
            return range and math.max(0, math.min(i + 1, range[2] * cells) - math.max(i, range[1] * cells)) or 1
          end
          local x, sum = gate.at * cells - 0.5, 0
          local low = math.floor(x)
          for side = 0, 1 do
            local plane = low + side
            plane = s.keys.grid[axes[a]] == "periodic" and plane % n[a] or math.max(0, math.min(n[a] - 1, plane))
            if plane == i then sum = sum + (side == 1 and x - low or 1 - (x - low)) end
          end
          return sum
        end
        local area, pressure, flux, momentum = 0, 0, 0, { 0, 0, 0 }
        each_cell(s, function(i, j, k)
          local own, cell = dx ^ (d - 1), { i, j, k }
          for a = 1, d do own = own * part(a, cell[a]) end
          local through, P = 0, r.state.pressure[at(s, i, j, k)]
          for a = 1, d do if gate.axis == axes[a] then through = velocity(a, i, j, k) end end
          through = through * (density + 3 * P / lattice ^ 2) * own
          area, pressure, flux = area + own, pressure + own * P, flux + through
          for a = 1, d do momentum[a] = momentum[a] + through * velocity(a, i, j, k) end
        end)
        local bound = 4 * u * area * density
        T:near("flux of " .. gate.name, r:last("gates", gate.name .. "_flux"), flux, bound)
        for a = 1, d do T:near("momentum of " .. gate.name, r:last("gates", gate.name .. "_momentum_" .. axes[a]), momentum[a], 2 * bound * most) end
        if not s.keys.bodies then T:near("pressure of " .. gate.name, r:last("gates", gate.name .. "_pressure"), pressure / area, p) end
      end
      local cells, square, inside = 0, 0, not s.keys.bodies
      each_cell(s, function(i, j, k)
        cells = cells + 1
        for a = 1, d do square = square + velocity(a, i, j, k) ^ 2 end
      end)
      if s.keys.spectrum then
        local sum = 0
        for i = 0, s.keys.spectrum - 1 do sum = sum + r:last("spectrum", ("energy_%d"):format(i)) end
        T:near("sum of the spectrum", sum * 2 * math.pi / math.max(table.unpack(s.keys.grid.size)), square / cells / 2, 4 * u * most)
      end
      for a = 1, d do inside = inside and s.keys.grid[axes[a]] == "periodic" end
      if inside then
        local own = { vorticity = {}, shear = {}, q = {}, ["vorticity/x"] = {}, ["vorticity/y"] = {}, ["vorticity/z"] = {} }
        each_cell(s, function(...)
          local cell, g, strain, turning = { ... }, {}, 0, 0
          for a = 1, 3 do
            g[a] = { 0, 0, 0 }
            for b = 1, 3 do
              if a <= d and b <= d then
                local low, high = table.move(cell, 1, 3, 1, {}), table.move(cell, 1, 3, 1, {})
                low[b], high[b] = (cell[b] - 1) % n[b], (cell[b] + 1) % n[b]
                g[a][b] = (velocity(a, table.unpack(high)) - velocity(a, table.unpack(low))) / (2 * dx)
              end
            end
          end
          for a = 1, 3 do for b = 1, 3 do
            strain, turning = strain + (g[a][b] + g[b][a]) ^ 2 / 4, turning + (g[a][b] - g[b][a]) ^ 2 / 4
          end end
          local function add(name, value) own[name][#own[name] + 1] = value end
          add("vorticity", g[2][1] - g[1][2]) add("vorticity/x", g[3][2] - g[2][3]) add("vorticity/y", g[1][3] - g[3][1]) add("vorticity/z", g[2][1] - g[1][2])
          add("shear", math.sqrt(2 * strain)) add("q", (turning - strain) / 2)
        end)
        for name, values in pairs(own) do
          local bound = name == "q" and 80 * u / dx * most / dx or 20 * u / dx
          if r.state[name] then T:near(name .. " by differences", r.state[name], values, bound) end
        end
      end
      if s.keys.average then
        local every, count, sums = s.keys.average.every or 1, 0, {}
        local first = math.ceil((s.keys.average.from or 0) / s.keys.integrate.dt * (1 - 1e-12))
        for _, file in ipairs(host.list(r.dir .. "/snap")) do
          local snapshot, step = host.read(r.dir .. "/snap/" .. file), nil
          for path in pairs(snapshot) do step = step or tonumber(path:match("^data/(%d+)/meshes/")) end
          if step and step >= first and step % every == 0 then
            count = count + 1
            for a = 1, d do
              local v = snapshot[("data/%d/meshes/velocity/%s"):format(step, axes[a])]
              sums[a] = sums[a] or {}
              for i = 1, cells do sums[a][i] = (sums[a][i] or 0) + v[i] end
              for b = a, d do
                local w, name = snapshot[("data/%d/meshes/velocity/%s"):format(step, axes[b])], axes[a] .. axes[b]
                sums[name] = sums[name] or {}
                for i = 1, cells do sums[name][i] = (sums[name][i] or 0) + v[i] * w[i] end
              end
            end
          end
        end
        for a = 1, d do
          local mean = {}
          for i = 1, cells do mean[i] = count > 0 and sums[a][i] / count or 0 end
          T:near("mean velocity along " .. axes[a], r.state["mean_velocity/" .. axes[a]], mean, u)
          for b = a, d do
            local stress = {}
            for i = 1, cells do stress[i] = count > 0 and sums[axes[a] .. axes[b]][i] / count - sums[a][i] * sums[b][i] / count ^ 2 or 0 end
            T:near("stress along " .. axes[a] .. axes[b], r.state["stress_" .. axes[a] .. axes[b]], stress, 4 * u * most)
          end
        end
      end
    end },

  -- Points with a law of drag: mirrored, or shifted by cells, and the momentum of all by the table.
  { name = "points mirrored and shifted", weight = 3,
    applies = function(s)
      local k = s.keys
      local tau, least = 0.5 + 3 * k.viscosity * k.integrate.dt / dx_of(s) ^ 2, math.huge
      for a = 1, rank(s) do least = math.min(least, k.grid.n[a]) end
      return rank(s) == 3 and not k.heat and not k.sides and not k.bodies and not k.collision and not k.force and not k.turbulence and tau <= 1 and least >= 8
    end,
    prepare = function(s, R)
      local a = { axis = R.int(1, 3), cells = R.int(1, 7), law = R.pick("stokes", "schiller_naumann", "di_felice"), grains = {} }
      for i = 1, R.int(1, 8) do -- each in an eighth of the box
        local o, at = i - 1, {}
        for b = 1, 3 do at[b] = (R.uniform(0.15, 0.35) + 0.5 * (o // 2 ^ (b - 1) % 2)) * s.keys.grid.size[b] end
        a.grains[i] = { radius = R.log(0.1, 1) * dx_of(s), density = R.log(2, 50) * (s.keys.density or 1), position = at }
      end
      a.pull = {}
      for b = 1, 3 do a.pull[b] = R.uniform(-1, 1) * s.keys.speed / (40 * s.keys.integrate.dt) end
      return a
    end,
    check = function(T, s, a)
      local c, grid = copy(s), s.keys.grid
      c.keys.grains, c.keys.gravity, c.keys.drag, c.keys.average = a.grains, a.pull, a.law, nil
      c.keys.contact = { contact_time = 20 * s.keys.integrate.dt }
      local m, r = mirrored(copy(c), a.axis), T:ask(c)
      m.keys.grains, m.keys.gravity = copy { keys = a.grains }.keys, copy { keys = a.pull }.keys
      m.keys.gravity[a.axis] = -a.pull[a.axis]
      for i, g in ipairs(m.keys.grains) do g.position[a.axis] = grid.size[a.axis] - a.grains[i].position[a.axis] end
      local function compare(what, q, c2, map, signs)
        local u = bounds(s, r)
        same_flow(T, what, c, r, c2, q, map, signs)
        for b = 1, 3 do
          T:near(what .. ", mean velocity along " .. axes[b], r:last("grains", "velocity_" .. axes[b]),
            signs[b] * q:last("grains", "velocity_" .. axes[b]), 2 * u)
        end
      end
      local signs, n = { 1, 1, 1 }, grid.n[a.axis]
      signs[a.axis] = -1
      compare("points mirrored along " .. axes[a.axis], T:ask(m), m, function(...)
        local cell = { ... }
        cell[a.axis] = n - 1 - cell[a.axis]
        return table.unpack(cell)
      end, signs)
      if grid.x == "periodic" then
        local d, by = copy(c), a.cells * dx_of(s)
        d.keys.initial = through(s.keys.initial, { "x - " .. number(by), "y", "z" }, { "a", "b", "c" })
        d.keys.grains = copy { keys = a.grains }.keys
        for _, g in ipairs(d.keys.grains) do g.position[1] = (g.position[1] + by) % grid.size[1] end
        compare("points shifted by cells", T:ask(d), d, function(i, j, k) return (i + a.cells) % grid.n[1], j, k end, { 1, 1, 1 })
      end
    end },

  -- All are Guo's force but for squares of the force of a step, which tell at bodies; and a function and buoyancy act on
  -- what a cell at a body has after it got back the mass that interpolation takes, some 1e-3 of it. Buoyancy is that of a
  -- temperature which is the same everywhere.
  { name = "acceleration and force", weight = 3, applies = function(s) return s.keys.acceleration and not s.keys.force end,
    prepare = function(_, R) return { warm = R.chance(0.5) } end,
    check = function(T, s, a)
      local c, words, down, most, open, sponge = copy(s), {}, {}, 0, false, false
      for i = 1, rank(s) do
        words[i], down[i] = number(s.keys.acceleration[i]), -s.keys.acceleration[i]
        most = math.max(most, math.abs(s.keys.acceleration[i]))
      end
      for _, side in pairs(s.keys.sides or {}) do open, sponge = open or side.pressure ~= nil, sponge or side.sponge end
      local warm = a.warm and not open and not moves(s) and not s.keys.heat
      c.keys.acceleration = nil
      if warm then
        c.keys.heat = { diffusivity = 0.6 * s.keys.viscosity, reference = 300, expansion = 1, gravity = down,
          initial = draw.fn(rank(s), "return 301") }
      else
        c.keys.force = draw.push(rank(s), "return " .. table.concat(words, ", "))
      end
      local r, q = T:ask(s), T:ask(c)
      local u, p = bounds(s, r)
      local lattice = dx_of(s) / s.keys.integrate.dt
      local g = most * s.keys.integrate.dt / lattice
      -- With heat a sponge changes the density before the force acts, otherwise after it: by u/c of it, c^2 = 1/3.
      local dense = s.keys.heat and sponge and 3 ^ 0.5 * s.keys.speed / lattice or 0
      local more = r.steps * g * (10 * g + dense + (has_bodies(s) and 3e-3 or 0))
      for f, name in ipairs(names_of(s)) do
        T:near((warm and "with buoyancy, " or "with a force that is a function, ") .. name, r.state[name], q.state[name],
          f <= rank(s) and u + more * lattice or p + more * lattice ^ 2 * (s.keys.density or 1))
      end
    end },

  -- Each cell solves for its relaxation time to 1e-12 of it, in single 3e-8.
  { name = "number and function of the shear rate", weight = 2,
    applies = function(s) return not s.keys.collision and not s.keys.turbulence end,
    check = function(T, s)
      local c = copy(s)
      c.keys.viscosity = text(("function(shear) return %s + math.min(shear, 0) end"):format(number(s.keys.viscosity)))
      local r, q = T:ask(s), T:ask(c)
      local u, p = bounds(s, r)
      local lattice, single = dx_of(s) / s.keys.integrate.dt, s.keys.precision == "single"
      local more = (single and 3e-7 or 1e-11) * r.steps
      for f, name in ipairs(names_of(s)) do
        T:near("with a viscosity that is a function, " .. name, r.state[name], q.state[name],
          f <= rank(s) and u + more * s.keys.speed or p + more * s.keys.speed * lattice * (s.keys.density or 1))
      end
    end },

  { name = "sides with and without time", weight = 2,
    applies = function(s) return s.keys.sides and not moves(s) end,
    check = function(T, s)
      local c, d = copy(s), copy(s)
      for name, side in pairs(c.keys.sides) do
        if side.velocity then
          local words, timed = {}, {}
          for a = 1, rank(s) do
            words[a] = number(side.velocity[a])
            -- a side that the fluid may pass has a temperature for what comes in alone
            timed[a] = words[a] .. (s.keys.heat and side.velocity[a] == 0 and "" or " + math.min(t, 0)")
          end
          side.profile, side.velocity = text(("function(x, y, z, t) return %s end"):format(table.concat(timed, ", "))), nil
          d.keys.sides[name].profile, d.keys.sides[name].velocity = draw.fn(rank(s), "return " .. table.concat(words, ", ")), nil
        else
          side.pressure = text(("function(t) return %s + math.min(t, 0) end"):format(number(side.pressure)))
        end
      end
      T:same("digests with and without time", T:ask(d).digest, T:ask(c).digest)
    end },

  -- Sides whose velocity swings, with a viscosity that falls with the shear rate where that may be, mirrored.
  { name = "swinging sides mirrored", weight = 2,
    applies = function(s) return s.keys.sides and not moves(s) end,
    prepare = function(s, R) return { axis = R.int(1, rank(s)), rate = R.log(0.1, 2) * s.keys.speed / dx_of(s), law = R.chance(0.5) } end,
    check = function(T, s, a)
      local function swing(c)
        for _, side in pairs(c.keys.sides) do
          if side.velocity then
            local words = {}
            for b = 1, rank(s) do words[b] = number(side.velocity[b]) .. " * math.cos(" .. number(a.rate) .. " * t)" end
            side.profile, side.velocity = text(("function(x, y, z, t) return %s end"):format(table.concat(words, ", "))), nil
          end
        end
        if a.law and not s.keys.collision and not s.keys.turbulence then
          c.keys.viscosity = text(("function(shear) return %s / (1 + %s * shear)^0.3 end"):format(number(s.keys.viscosity), number(dx_of(s) / s.keys.speed)))
        end
        return c
      end
      local c, n, signs = swing(mirrored(s, a.axis)), s.keys.grid.n[a.axis], { 1, 1, 1 }
      local d = swing(copy(s))
      signs[a.axis] = -1
      local r, q = T:ask(d), T:ask(c)
      same_flow(T, "swinging sides mirrored along " .. axes[a.axis], d, r, c, q, function(...)
        local cell = { ... }
        cell[a.axis] = n - 1 - cell[a.axis]
        return table.unpack(cell)
      end, signs)
    end },

  ask.threads_twin(function() return true end),
  ask.ranks_twin(),
  ask.resumed_twin(function(R) return R.int(1, 4) end, { snapshots = "every 2 steps", tables = "every 1 steps" }),

  -- In single the GPU keeps 5 bits less of stresses below 0.1: 2^-19 0.1, less than the bound of one step.
  { name = "device", weight = 16, applies = function(_, options) return options.device == "cuda" end,
    check = function(T, s)
      local r, q = T:ask(s), T:ask(s, { device = "cpu" })
      same_flow(T, "on GPU and CPU", s, r, s, q, identity)
      same_loads(T, "on GPU and CPU", s, r, q, ones, ones)
      same_heat(T, "on GPU and CPU", s, r, q)
      same_measures(T, "on GPU and CPU", s, r, s, q, identity, ones, ones)
    end },
}

return M
