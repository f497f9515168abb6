-- The ways to ask for beds and gases of few grains.
local scenario, ask, draw = require "scenario", require "ask", require "collision_draw"
local call, fn, text, copy = scenario.call, scenario.fn, scenario.text, scenario.copy
local M = { name = "collision", draw = draw.draw }
local axes = { "x", "y", "z" }

-- ---- helpers ------------------------------------------------------------------------------------------------------

-- The last snapshot: for each of these arrays a list by identity.
local vectors = { "position", "velocity", "angular_velocity" }
local function grains(r)
  local by, list = r.state.id, {}
  if not by then error({ text = "no grains in the snapshot" }) end
  for _, v in ipairs(vectors) do
    list[v] = {}
    for i = 1, 3 do
      local values = r.state[v .. "/" .. axes[i]] or {}
      list[v][i] = {}
      for k, id in ipairs(by) do list[v][i][id + 1] = values[k] or 0 end
    end
  end
  return list
end

-- Bound on the growth of rounding: 30 units of it a step that add up at random, times 8 for each collision of a grain
-- (its free path over its radius) and for walls and for grains that collide more often than the mean. Beyond 3e-2
-- nothing can be compared.
local function bound(s, r, more)
  local n = math.max(1, #s.keys.grains)
  local hits = 2 * (r:last("contacts", "collisions") or 0) / n + 2.5
  local eps = (s.keys.precision == "single") and 2 ^ -24 or 2 ^ -52
  local b = eps * 30 * math.sqrt((r.steps or 1000) + 1) * 8 ^ hits * (more or 1)
  if b > 3e-2 then error({ refused = "too many collisions to compare" }) end
  return b
end

-- Compares grain by grain; `map` (of three numbers, and the kind of vector) maps r's vectors to q's.
local function same_grains(T, what, r, q, map, tolerance, s)
  local a, b = grains(r), grains(q)
  for _, v in ipairs(vectors) do
    local n = #a[v][1]
    for k = 1, n do
      local x, y, z = map(v, a[v][1][k], a[v][2][k], a[v][3][k])
      local here = { x, y, z }
      for i = 1, 3 do
        local d = here[i] - b[v][i][k]
        if v == "position" and s.keys.box[axes[i] .. "_low"] == "periodic" then
          local L = s.keys.box.size[i]
          d = d - L * math.floor(d / L + 0.5)
        end
        T:near(("%s: %s %s of grain %d"):format(what, v, axes[i], k - 1), d, 0, tolerance * (v == "angular_velocity" and 30 or 1))
      end
    end
  end
end
local function identity(_, x, y, z) return x, y, z end
-- Changes the walls' points, directions, lengths and rates.
local function change_walls(s, point, direction, length, speed, spin)
  for _, w in ipairs(s.keys.walls or {}) do
    local k = w.keys
    if k.low then
      local a, b = point(k.low), point(k.high)
      for i = 1, 3 do k.low[i], k.high[i] = math.min(a[i], b[i]), math.max(a[i], b[i]) end
    end
    if k.point then k.point = point(k.point) end
    for _, name in ipairs { "axis", "normal" } do if k[name] then k[name] = direction(k[name]) end end
    for _, name in ipairs { "radius", "end_radius", "length" } do if k[name] then k[name] = k[name] * length end end
    if k.velocity then
      k.velocity = direction(k.velocity)
      for i = 1, 3 do k.velocity[i] = k.velocity[i] * speed end
    end
    if k.spin then k.spin = k.spin * spin end
  end
end
-- Writes the default axis of a wall that turns: z, which a mirror or a rotation changes too.
local function say_axes(s)
  local c = copy(s)
  for _, w in ipairs(c.keys.walls or {}) do if w.keys.spin and not w.keys.axis then w.keys.axis = { 0, 0, 1 } end end
  return c
end
local function side(s, i, end_) return s.keys.box[axes[i] .. "_" .. end_] or s.keys.box.boundary or "periodic" end

-- ---- the twins ----------------------------------------------------------------------------------------------------

M.twins = {
  { name = "mirrored", weight = 2,
    prepare = function(_, R) return { axis = R.int(1, 3) } end,
    check = function(T, s, a)
      local c, i = say_axes(s), a.axis
      local middle = 2 * s.keys.box.origin[i] + s.keys.box.size[i]
      for _, g in ipairs(c.keys.grains) do
        g.position[i] = middle - g.position[i]
        if g.velocity then g.velocity[i] = -g.velocity[i] end
        for j = 1, 3 do if j ~= i and g.angular_velocity then g.angular_velocity[j] = -g.angular_velocity[j] end end
      end
      local box = c.keys.box
      box[axes[i] .. "_low"], box[axes[i] .. "_high"] = box[axes[i] .. "_high"], box[axes[i] .. "_low"]
      if c.keys.gravity then c.keys.gravity[i] = -c.keys.gravity[i] end
      local function flip(v) v = copy(v) v[i] = -v[i] return v end
      change_walls(c, function(p) p = copy(p) p[i] = middle - p[i] return p end, flip, 1, 1, -1)
      local r, q = T:ask(s), T:ask(c)
      same_grains(T, "mirrored along " .. axes[i], r, q, function(v, ...)
        local w = { ... }
        for j = 1, 3 do
          if v == "angular_velocity" then if j ~= i then w[j] = -w[j] end
          elseif j == i then w[j] = v == "position" and middle - w[j] or -w[j] end
        end
        return w[1], w[2], w[3]
      end, bound(s, r), s)
    end },

  { name = "axes turned", weight = 2,
    check = function(T, s)
      local c = say_axes(s)
      local function turn(v) return v and { v[3], v[1], v[2] } or nil end
      local box, old = c.keys.box, s.keys.box
      box.size, box.origin = turn(old.size), turn(old.origin)
      for i = 1, 3 do
        for _, e in ipairs { "_low", "_high" } do box[axes[i % 3 + 1] .. e] = old[axes[i] .. e] end
      end
      for _, g in ipairs(c.keys.grains) do
        g.position, g.velocity, g.angular_velocity = turn(g.position), turn(g.velocity), turn(g.angular_velocity)
      end
      c.keys.gravity = turn(c.keys.gravity)
      change_walls(c, turn, turn, 1, 1, 1)
      local r, q = T:ask(s), T:ask(c)
      same_grains(T, "axes turned", r, q, function(_, x, y, z) return z, x, y end, bound(s, r), c)
    end },

  { name = "shifted in the box", weight = 2,
    applies = function(s) return side(s, 1, "low") == "periodic" and not s.keys.walls end,
    prepare = function(_, R) return { by = R.uniform(0.1, 0.9) } end,
    check = function(T, s, a)
      local c = copy(s)
      local low, L = s.keys.box.origin[1], s.keys.box.size[1]
      if side(s, 1, "low") ~= "periodic" then error({ refused = "no periodic axis" }) end
      for _, g in ipairs(c.keys.grains) do
        local x = g.position[1] + a.by
        g.position[1] = x >= low + L and x - L or x
      end
      local r, q = T:ask(s), T:ask(c)
      same_grains(T, "shifted along a periodic axis", r, q, function(v, x, y, z) return v == "position" and x + a.by or x, y, z end, bound(s, r), s)
    end },

  { name = "another origin", weight = 2,
    prepare = function(_, R) return { by = { R.dyadic(-4, 4), R.dyadic(-4, 4), R.dyadic(-4, 4) } } end,
    check = function(T, s, a)
      local c = copy(s)
      for i = 1, 3 do c.keys.box.origin[i] = c.keys.box.origin[i] + a.by[i] end
      for _, g in ipairs(c.keys.grains) do for i = 1, 3 do g.position[i] = g.position[i] + a.by[i] end end
      change_walls(c, function(p) return { p[1] + a.by[1], p[2] + a.by[2], p[3] + a.by[3] } end, copy, 1, 1, 1)
      local r, q = T:ask(s), T:ask(c)
      same_grains(T, "with another origin", r, q, function(v, x, y, z)
        if v ~= "position" then return x, y, z end
        return x + a.by[1], y + a.by[2], z + a.by[3]
      end, bound(s, r, 10), s)
    end },

  { name = "moving along", weight = 1,
    applies = function(s)
      for i = 1, 3 do if side(s, i, "low") ~= "periodic" or side(s, i, "high") ~= "periodic" then return false end end
      return true
    end,
    prepare = function(_, R) return { v = { R.uniform(-0.5, 0.5), R.uniform(-0.5, 0.5), R.uniform(-0.5, 0.5) } } end,
    check = function(T, s, a)
      local c = copy(s)
      for _, g in ipairs(c.keys.grains) do
        g.velocity = g.velocity or { 0, 0, 0 }
        for i = 1, 3 do g.velocity[i] = g.velocity[i] + a.v[i] end
      end
      local r, q = T:ask(s), T:ask(c)
      local t = s.keys.integrate.t_end
      same_grains(T, "seen from a moving frame", r, q, function(v, x, y, z)
        if v == "angular_velocity" then return x, y, z end
        local by = v == "position" and t or 1
        return x + a.v[1] * by, y + a.v[2] * by, z + a.v[3] * by
      end, bound(s, r, 100), s)
    end },

  { name = "other units", weight = 2,
    check = function(T, s)
      -- Lengths by 4, times by 2, masses by 8: powers of two, so that only the rounding in functions may differ.
      local L, t, m = 4, 2, 8
      local c = copy(s)
      for i = 1, 3 do
        c.keys.box.size[i], c.keys.box.origin[i] = c.keys.box.size[i] * L, c.keys.box.origin[i] * L
        if c.keys.gravity then c.keys.gravity[i] = c.keys.gravity[i] * L / t ^ 2 end
      end
      for _, g in ipairs(c.keys.grains) do
        g.radius, g.density = g.radius * L, (g.density or 1) * m / L ^ 3
        for i = 1, 3 do
          g.position[i] = g.position[i] * L
          if g.velocity then g.velocity[i] = g.velocity[i] * L / t end
          if g.angular_velocity then g.angular_velocity[i] = g.angular_velocity[i] / t end
        end
      end
      change_walls(c, function(p) return { p[1] * L, p[2] * L, p[3] * L } end, copy, L, L / t, 1 / t)
      local k = c.keys.contact
      if k.contact_time then k.contact_time = k.contact_time * t end
      if k.stiffness then k.stiffness = k.stiffness * m / t ^ 2 end
      if k.young then k.young = k.young * m / L / t ^ 2 end
      if k.surface_energy then k.surface_energy = k.surface_energy * m / t ^ 2 end
      for _, turn in ipairs { "rolling", "twisting" } do
        local v = k[turn]
        if v and v.model == "viscous" then v.coefficient = v.coefficient * t / L end
        if v and v.stiffness then v.stiffness = v.stiffness * m / t ^ 2 end
        if v and v.damping then v.damping = v.damping * m / t end
      end
      local v = k.cohesion or {}
      for key, by in pairs { surface_energy = m / t ^ 2, surface_tension = m / t ^ 2, volume = L ^ 3, energy = m * L ^ 2 / t ^ 2, range = L } do
        if v[key] then v[key] = v[key] * by end
      end
      c.keys.integrate.t_end = s.keys.integrate.t_end * t
      if c.keys.integrate.dt then c.keys.integrate.dt = c.keys.integrate.dt * t end
      local r, q = T:ask(s), T:ask(c)
      same_grains(T, "in other units", r, q, function(v, x, y, z)
        local by = v == "position" and L or v == "velocity" and L / t or 1 / t
        return x * by, y * by, z * by
      end, 4 * bound(s, r), c)
    end },

  { name = "walls as planes", weight = 3,
    applies = function(s)
      for i = 1, 3 do for _, e in ipairs { "low", "high" } do if side(s, i, e) == "wall" then return true end end end
      return false
    end,
    prepare = function(_, R) return { kind = R.pick("plane", "plane", "mesh", "block") } end,
    check = function(T, s, a)
      local c, found = copy(s), {}
      local low, size = s.keys.box.origin, s.keys.box.size
      c.keys.walls = c.keys.walls or {}
      for i = 1, 3 do
        for _, e in ipairs { "low", "high" } do
          if side(s, i, e) == "wall" then found[#found + 1] = { i, e } end
        end
      end
      if #found == 0 then error({ refused = "no wall" }) end
      if a.kind == "block" then
        if #found < 6 then error({ refused = "not walls all round" }) end
        c.keys.walls[#c.keys.walls + 1] = call("block", { low = copy(low), high = { low[1] + size[1], low[2] + size[2], low[3] + size[3] }, inside = true })
        c.keys.box = { size = size, origin = low, boundary = "open" }
      else
        for _, f in ipairs(found) do
          local i, e = f[1], f[2]
          local other = side(s, i, e == "low" and "high" or "low")
          if other == "periodic" then error({ refused = "half periodic" }) end
          c.keys.box[axes[i] .. "_" .. e] = "open"
          local point, normal = { low[1], low[2], low[3] }, { 0, 0, 0 }
          if e == "high" then point[i] = low[i] + size[i] end
          normal[i] = e == "low" and 1 or -1
          c.keys.walls[#c.keys.walls + 1] = call("plane", { point = point, normal = normal })
        end
      end
      if a.kind == "mesh" and s.keys.walls then error({ refused = "walls and meshes" }) end
      if a.kind == "mesh" then
        -- Two large triangles for each plane, in one file; the box is enlarged by the distance that they reach over its
        -- sides.
        local lines = { "solid walls" }
        for _, w in ipairs(c.keys.walls) do
          local i = w.keys.normal[1] ~= 0 and 1 or w.keys.normal[2] ~= 0 and 2 or 3
          local j, k = i % 3 + 1, (i + 1) % 3 + 1
          if side(s, j, "low") == "periodic" or side(s, k, "low") == "periodic" then error({ refused = "a mesh along a periodic axis" }) end
          local function corner(u, v)
            local p = {}
            p[i], p[j], p[k] = w.keys.point[i], low[j] + size[j] / 2 + u, low[k] + size[k] / 2 + v
            return ("vertex %.17g %.17g %.17g"):format(p[1], p[2], p[3])
          end
          local corners = { corner(-4, -4), corner(4, -4), corner(4, 4), corner(-4, 4) }
          for _, three in ipairs { { 1, 2, 3 }, { 1, 3, 4 } } do
            lines[#lines + 1] = "facet normal 0 0 0\nouter loop"
            for _, n in ipairs(three) do lines[#lines + 1] = corners[n] end
            lines[#lines + 1] = "endloop\nendfacet"
          end
        end
        lines[#lines + 1] = "endsolid walls\n"
        if #c.keys.walls > 1 then error({ refused = "triangles of several planes cross" }) end
        T:file("walls.stl", table.concat(lines, "\n"))
        c.keys.walls = { call("stl", { path = "walls.stl" }) }
      end
      local r, q = T:ask(s), T:ask(c)
      -- Corners of a mesh are in single precision.
      local b = bound(s, r)
      if a.kind == "mesh" then b = bound({ keys = { grains = s.keys.grains, precision = "single" } }, r, 0.1) end
      same_grains(T, "walls of the box and " .. a.kind .. "s", r, q, identity, b, s)
    end },

  { name = "grains in another order", weight = 1,
    check = function(T, s)
      local c, n = copy(s), #s.keys.grains
      for k = 1, n do c.keys.grains[k] = s.keys.grains[n + 1 - k] end
      local r, q = T:ask(s), T:ask(c)
      local a, b = grains(r), grains(q)
      local tolerance = bound(s, r)
      for _, v in ipairs(vectors) do
        for i = 1, 3 do
          local back = {}
          for k = 1, n do back[k] = b[v][i][n + 1 - k] end
          for k = 1, n do
            local d = a[v][i][k] - back[k]
            if v == "position" and side(s, i, "low") == "periodic" then d = d - math.floor(d / s.keys.box.size[i] + 0.5) * s.keys.box.size[i] end
            T:near(("in another order: %s %s of grain %d"):format(v, axes[i], k - 1), d, 0, tolerance * (v == "angular_velocity" and 30 or 1))
          end
        end
      end
    end },

  { name = "skin and groups", weight = 1,
    prepare = function(_, R) return { skin = R.log(0.005, 0.05) } end,
    check = function(T, s, a)
      local c = copy(s)
      c.keys.integrate.skin = a.skin
      local r, q = T:ask(s), T:ask(c)
      same_grains(T, "with another skin", r, q, identity, 0, s)
      -- The same grains, one by one in a function.
      for _, g in ipairs(s.keys.grains) do if g.density or g.material then return end end
      local d, rows = copy(s), {}
      for k, g in ipairs(s.keys.grains) do
        rows[k] = { radius = g.radius, position = g.position, velocity = g.velocity or { 0, 0, 0 }, angular_velocity = g.angular_velocity or { 0, 0, 0 } }
      end
      local list = scenario.write({ keys = nil, table.unpack(rows) }):gsub("^return ", "")
      d.keys.grains = { text(("sim.each(%d, function(i) local g = (%s)[i] return g end)"):format(#rows, list)) }
      local e = T:ask(d)
      same_grains(T, "single grains and sim.each", r, e, identity, 0, s)
    end },

  { name = "walls that move by a function", weight = 2,
    applies = function(s) return s.keys.walls ~= nil end,
    prepare = function(_, R) return { v = { R.uniform(-0.2, 0.2), R.uniform(-0.2, 0.2), R.uniform(-0.2, 0.2) }, spin = R.uniform(-4, 4) } end,
    check = function(T, s, a)
      local c, d = copy(s), copy(s)
      if not s.keys.walls then error({ refused = "no wall" }) end
      local x, y = c.keys.walls[1].keys, d.keys.walls[1].keys
      x.velocity, x.spin = a.v, a.spin
      y.velocity, y.spin = nil, nil
      y.motion = fn("function(t) return %g, %g, %g end", a.v[1], a.v[2], a.v[3])
      y.turning = fn("function(t) return %g end", a.spin)
      local r, q = T:ask(c), T:ask(d)
      same_grains(T, "velocity and motion, spin and turning", r, q, identity, bound(s, r), s)
    end },

  { name = "inlets, outlets and gates", weight = 2,
    prepare = function(_, R)
      return { rate = R.log(50, 400), radius = R.uniform(0.02, 0.04), gate = R.uniform(0.3, 0.6), threads = R.int(1, 3), limit = R.chance(0.4) and R.int(3, 20) or nil }
    end,
    check = function(T, s, a)
      local c = call("collision", { box = { size = { 0.5, 0.5, 1 }, boundary = "periodic", z_low = "outlet", z_high = "open" },
        grains = { call("random_spheres", { n = 20, radius = a.radius, low = { 0, 0, 0.1 }, high = { 0.5, 0.5, 0.7 } }) },
        insert = { call("inlet", { rate = a.rate, radius = a.radius, low = { 0.05, 0.05, 0.75 }, high = { 0.45, 0.45, 0.95 }, velocity = { 0, 0, -1 }, limit = a.limit }) },
        gates = { { point = { 0, 0, a.gate }, normal = { 0, 0, -1 } } },
        gravity = { 0, 0, -4 }, contact = { contact_time = 0.01, restitution = 0.6, friction = s.keys.contact.friction },
        integrate = { t_end = 0.5 }, precision = s.keys.precision, seed = s.keys.seed,
        output = { snapshots = "ends", tables = "every 50 steps", checkpoint = "every 400 steps" } })
      local straight = T:ask(c)
      local r = T:ask(c, { fresh = "resume", threads = a.threads })
      T:same("digests of 1 and more threads", straight.digest, r.digest)
      local digest = r.digest
      T:same("digests of a run and one that went on", digest, T:again(r, 2).digest)
      local inserted, removed = straight:last("flow", "inserted"), straight:last("flow", "removed")
      T:near("grains that are there", #straight.state.id, 20 + inserted - removed, 0)
      if a.limit and inserted > a.limit then T:disagree("limit of an inlet", "%d of %d", inserted, a.limit) end
      -- A grain below the gate, or removed below it, has passed the gate or began there.
      local names = host.list(straight.dir .. "/snap")
      table.sort(names)
      local below = 0
      for path, z in pairs(host.read(straight.dir .. "/snap/" .. names[1])) do
        if path:match("position/z$") then for _, v in ipairs(z) do below = below - (v < a.gate and 1 or 0) end end
      end
      for _, v in ipairs(straight.state["position/z"]) do below = below + (v < a.gate and 1 or 0) end
      T:near("grains through the gate", straight:last("flow", "gate1_grains"), below + removed, 0)
    end },

  { name = "tables and snapshots", weight = 1,
    check = function(T, s)
      local r = T:ask(s)
      local g, m, kinetic, turning, p = grains(r), {}, 0, 0, { 0, 0, 0 }
      for k, one in ipairs(s.keys.grains) do
        m[k] = (one.density or 1) * 4 / 3 * math.pi * one.radius ^ 3
        for i = 1, 3 do
          kinetic = kinetic + m[k] * g.velocity[i][k] ^ 2 / 2
          turning = turning + 0.2 * m[k] * one.radius ^ 2 * g.angular_velocity[i][k] ^ 2
          p[i] = p[i] + m[k] * g.velocity[i][k]
        end
      end
      local b = (s.keys.precision == "single" and 2 ^ -22 or 2 ^ -48) * #m
      T:near("kinetic energy", r:last("energy", "kinetic"), kinetic, b)
      T:near("energy of turning", r:last("energy", "rotational"), turning, b)
      for i = 1, 3 do T:near("momentum " .. axes[i], r:last("momentum", "momentum_" .. axes[i]), p[i], b) end
    end },

  { name = "law as a function", weight = 2,
    applies = function(s) local k = s.keys.contact return k.law == "linear" and k.stiffness and not k.surface_energy and not k.cohesion and not k.rolling and not k.twisting and not k.pairs and not k.friction end,
    check = function(T, s)
      local c, k = copy(s), s.keys.contact
      if not k.stiffness or k.friction or k.pairs then error({ refused = "not plain" }) end
      local e = k.restitution or 1
      -- Schwager and Poeschel: the damping of a restitution where the force does not pull.
      c.keys.contact = { law = "linear", stiffness = k.stiffness, damping = 0 }
      local d = copy(c)
      d.keys.contact = { law = "own", stiffness = k.stiffness, force = fn("function(overlap) return %g * overlap end", k.stiffness) }
      c.keys.integrate.dt, d.keys.integrate.dt = 1e-4, 1e-4
      local r, q = T:ask(c), T:ask(d)
      same_grains(T, ("a spring (restitution %g) and its function"):format(e), r, q, identity, bound(c, r, 10), s)
    end },

  { name = "gravity as external", weight = 1,
    applies = function(s) return s.keys.gravity ~= nil end,
    prepare = function(_, R) return { potential = R.chance(0.5) } end,
    check = function(T, s, a)
      local c, g = copy(s), s.keys.gravity
      if not g then error({ refused = "no gravity" }) end
      c.keys.gravity = nil
      c.keys.external = a.potential and fn("function(x, y, z) return -%g * x - %g * y - %g * z end", g[1], g[2], g[3])
        or fn("function() return %g, %g, %g end", g[1], g[2], g[3])
      local r, q = T:ask(s), T:ask(c)
      same_grains(T, "gravity and an external function", r, q, identity, bound(s, r, 10), s)
    end },

  { name = "budgets", weight = 3,
    check = function(T, s)
      local r = T:ask(s)
      if not (r.warned and r.warned:find("balance")) then
        local balance = r:last("energy", "balance")
        -- The program itself warns at 10 %.
        if balance and balance == balance then T:near("balance of energy", balance, 0, 0.1) end
      end
      if s.keys.gravity or s.keys.walls then return end
      local free, rough = true, false
      for i = 1, 3 do
        for _, e in ipairs { "low", "high" } do rough = rough or side(s, i, e) == "wall" and s.keys.contact.friction end
      end
      if rough or s.keys.contact.pairs then return end
      for i = 1, 3 do
        if side(s, i, "low") ~= "wall" and side(s, i, "high") ~= "wall" then
          local p = r.tables.momentum["momentum_" .. axes[i]]
          local scale = 0
          for _, g in ipairs(s.keys.grains) do scale = scale + (g.density or 1) * 4.2 * g.radius ^ 3 end
          local eps = s.keys.precision == "single" and 2 ^ -22 or 2 ^ -50
          T:near("momentum " .. axes[i], p[1], p[#p], eps * scale * 4 * math.sqrt(r.steps or 1) * #s.keys.grains)
        end
        if side(s, i, "low") ~= "open" or side(s, i, "high") ~= "open" then free = false end
      end
      if free and s.keys.precision ~= "single" then
        for i = 1, 3 do
          local L = r.tables.momentum["angular_momentum_" .. axes[i]]
          T:near("angular momentum " .. axes[i], L[1], L[#L], 1e-3)
        end
      end
    end },

  { name = "solvers of a gas", weight = 3,
    applies = function(s)
      for i = 1, 3 do if side(s, i, "low") ~= "periodic" then return false end end
      return s.keys.precision == "single" and not s.keys.gravity and not s.keys.walls and not s.keys.contact.friction and s.keys.contact.law == "linear"
    end,
    check = function(T, s)
      if s.keys.gravity then error({ refused = "gravity" }) end
      -- A short run. Steps of one length are rounded alike, so that the position of a contact shifts by eps a step. A
      -- contact under way then differs in speed by that times the rate at which speeds change (2 pi over twice its
      -- duration, about 150).
      local c, d = copy(s), nil
      c.keys.integrate.t_end = 0.12
      d = copy(c)
      d.keys.gravity = { 1e-30, 0, 0 }
      local r, q = T:ask(c), T:ask(d)
      same_grains(T, "fixed point and general solver", r, q, identity, 2 ^ -24 * r.steps * 300, s)
      T:same("collisions", r:last("contacts", "collisions"), q:last("contacts", "collisions"))
    end },

  { name = "restitution", weight = 2,
    prepare = function(_, R) return { e = R.uniform(0.2, 0.95), v = R.log(0.2, 2), r = { R.uniform(0.05, 0.1), R.uniform(0.05, 0.1) }, law = R.pick("linear", "hertz"), by_speed = R.chance(0.5) } end,
    check = function(T, s, a)
      local k = { law = a.law, restitution = a.e }
      if a.law == "linear" and a.by_speed then
        k.restitution, k.restitution_law = nil, fn("function(speed) return %.17g * sim.exp(1 - speed / %.17g) end", a.e, a.v)
        if a.e > 0.36 then k.restitution_law = fn("function(speed) return %.17g * (speed / %.17g)^0.1 end", a.e, a.v) end
      end
      if a.law == "linear" then k.contact_time = 0.01 else k.young = 1e4 end
      local gap = 0.01
      local c = call("collision", { box = { size = { 2, 2, 2 }, boundary = "open" },
        grains = { { radius = a.r[1], position = { 1 - a.r[1] - gap, 1, 1 }, velocity = { a.v, 0, 0 } },
          { radius = a.r[2], position = { 1 + a.r[2] + gap, 1, 1 } } },
        contact = k, integrate = { t_end = 2 * gap / a.v + 0.5, steps_per_contact = 100 }, precision = s.keys.precision,
        output = { snapshots = "ends", tables = "ends", checkpoint = "never" } })
      local r = T:ask(c)
      local g = grains(r)
      local after = g.velocity[1][2] - g.velocity[1][1]
      if r:last("contacts", "collisions") ~= 1 then error({ refused = "not one collision" }) end
      -- Hertz's dashpot has its restitution to within a per cent (Antypov and Elliott); the linear one up to the step.
      T:near("restitution of a head-on collision", after / a.v, a.e, a.law == "hertz" and 0.02 or 0.01)
    end },

  { name = "a patch of a ring", weight = 2,
    prepare = function(_, R)
      local omega, list = R.uniform(0.5, 2), {}
      for k = 1, R.int(3, 9) do
        list[k] = { radius = R.uniform(0.05, 0.1), density = R.uniform(0.5, 2),
          position = { ((k - 1) % 3 + R.uniform(0.3, 0.7)) / 3 - 0.5, ((k - 1) // 3 + R.uniform(0.3, 0.7)) / 3 - 0.5, R.uniform(-0.1, 0.1) },
          velocity = { R.uniform(-0.3, 0.3), R.uniform(-0.3, 0.3), R.uniform(-0.1, 0.1) } }
      end
      return { hill = { omega = omega, kappa = R.chance(0.5) and omega * R.uniform(0.5, 2) or nil, vertical = R.chance(0.3) and R.uniform(0, 4) or nil },
        grains = list, G = R.chance(0.7) and R.uniform(0.1, 2) or nil, images = R.int(0, 2), every = R.int(1, 9), by = { R.uniform(0.1, 0.9), R.uniform(0.1, 0.9) },
        stop = R.int(31, 170), threads = R.int(1, 3) }
    end,
    check = function(T, s, a)
      local dt, t = 0.001, 0.4
      local function patch(dx, dy)
        local list = copy(a.grains)
        for _, g in ipairs(list) do
          for i, by in ipairs { dx, dy } do g.position[i] = (g.position[i] + by + 0.5) % 1 - 0.5 end
        end
        return call("collision", { box = { size = { 1, 1, 1 }, origin = { -0.5, -0.5, -0.5 }, z_low = "open", z_high = "open" },
          hill = a.hill, self_gravity = a.G and { G = a.G, error = 0, images = a.images, step = a.every * dt } or nil, grains = list,
          contact = { contact_time = 0.05, restitution_law = fn("function(speed) return sim.exp(-speed) end") },
          integrate = { dt = dt, t_end = t }, output = { snapshots = "ends", tables = "every 50 steps", checkpoint = ("every %d steps"):format(a.stop) } })
      end
      local c = patch(0, 0)
      local r, q = T:ask(c), T:ask(patch(a.by[1], a.by[2]))
      -- A patch is homogeneous: a shift across it adds the flow there to the velocities along it.
      local omega = a.hill.omega
      local shear = -2 * omega + (a.hill.kappa or omega) ^ 2 / (2 * omega)
      local u, v = grains(r), grains(q)
      local b = 2 ^ -52 * 1e3 * math.sqrt(r.steps) * 8 ^ (2 * r:last("contacts", "collisions") / #a.grains + 2.5)
      if b > 3e-2 then error({ refused = "too many collisions to compare" }) end
      for k = 1, #a.grains do
        local dx = v.position[1][k] - u.position[1][k]
        local dy = v.position[2][k] - u.position[2][k] - a.by[2] - shear * dx * t
        T:near(("shifted: x of grain %d"):format(k - 1), dx - a.by[1] - math.floor(dx - a.by[1] + 0.5), 0, b)
        T:near(("shifted: y of grain %d"):format(k - 1), dy - math.floor(dy + 0.5), 0, b)
        T:near(("shifted: v_x of grain %d"):format(k - 1), v.velocity[1][k], u.velocity[1][k], b)
        T:near(("shifted: v_y of grain %d"):format(k - 1), v.velocity[2][k] - shear * dx, u.velocity[2][k], b)
      end
      local straight = r.digest
      local resumed = T:ask(c, { fresh = "resume", threads = a.threads })
      T:same("digests of 1 and more threads", straight, resumed.digest)
      T:same("digests of a run and one that went on", straight, T:again(resumed, 2).digest)
    end },

  { name = "clumps", weight = 3,
    applies = function() return ask.knows("collision", "sim.clumps") end,
    prepare = function(_, R)
      local list, cells = {}, {}
      for k = 0, 26 do cells[k + 1] = { k % 3, k // 3 % 3, k // 9 } end
      R.shuffle(cells)
      for k = 1, R.int(2, 10) do
        local spheres, at = {}, {}
        for i = 1, 3 do at[i] = (cells[k][i] + 0.5) / 3 end
        for n = 1, R.pick(1, 2, 3, 4) do
          spheres[n] = { R.uniform(-0.03, 0.03), R.uniform(-0.03, 0.03), R.uniform(-0.03, 0.03), R.uniform(0.03, 0.05) }
        end
        list[k] = { spheres = spheres, position = at, orientation = { R.uniform(-1, 1), R.uniform(-1, 1), R.uniform(-1, 1), R.uniform(-1, 1) },
          velocity = { R.uniform(-2, 2), R.uniform(-2, 2), R.uniform(-2, 2) }, angular_velocity = { R.uniform(-5, 5), R.uniform(-5, 5), R.uniform(-5, 5) },
          density = R.chance(0.5) and R.uniform(0.5, 2) or nil, mass = nil }
      end
      return { list = list, stiffness = R.uniform(20, 60), by = { R.dyadic(-4, 4), R.dyadic(-4, 4), R.dyadic(-4, 4) }, threads = R.int(2, 3) }
    end,
    check = function(T, s, a)
      local kind = { boundary = "periodic", size = { 1, 1, 1 }, origin = { 0, 0, 0 } }
      for i = 1, 3 do for _, e in ipairs { "_low", "_high" } do kind[axes[i] .. e] = s.keys.box[axes[i] .. e] end end
      local contact = copy(s.keys.contact)
      contact.pairs = nil
      if contact.contact_time then contact.contact_time, contact.stiffness = nil, a.stiffness end
      local function made(how)
        local list = {}
        for k, one in ipairs(a.list) do
          local c = copy(one)
          if how == "turned" then -- x to y to z, and moved: the orientation turns it back
            for n, p in ipairs(c.spheres) do c.spheres[n] = { p[3] + a.by[1], p[1] + a.by[2], p[2] + a.by[3], p[4] } end
            local w, x, y, z = table.unpack(c.orientation)
            c.orientation = { w + x + y + z, x - w - y + z, y - w - z + x, z - w - x + y }
          elseif how then
            c.spheres = { c.spheres[1] }
          end
          if how == "grains" then
            c = { radius = c.spheres[1][4], position = c.position, velocity = c.velocity, angular_velocity = c.angular_velocity, density = c.density }
            list[k] = c
          else
            list[k] = call("clump", c)
          end
        end
        return call("collision", { box = kind, grains = list, contact = contact, gravity = s.keys.gravity, precision = s.keys.precision,
          integrate = { t_end = 0.07 }, output = { snapshots = "ends", tables = "every 50 steps", checkpoint = "every 100 steps" } })
      end
      local c = made()
      local r = T:ask(c)
      same_grains(T, "clumps and the same of turned spheres", r, T:ask(made("turned")), identity, bound(c, r, 100), c)
      local q = T:ask(c, { fresh = "resume", threads = a.threads })
      T:same("digests of 1 and more threads", r.digest, q.digest)
      T:same("digests of a run and one that went on", r.digest, T:again(q, 2).digest)
      local one = T:ask(made("one"))
      same_grains(T, "clumps of one sphere and grains", one, T:ask(made("grains")), identity, bound(c, one, 100), c)
    end },

  ask.threads_twin(function(s) return s.keys.precision ~= "single" end),
  ask.ranks_twin(),
  ask.resumed_twin(function(R) return R.pick(37, 100, 150) end, { snapshots = "every 0.1", tables = "every 50 steps" }),

  { name = "device", weight = 16, applies = function(_, options) return options.device == "cuda" end,
    check = function(T, s)
      local r, q = T:ask(s), T:ask(s, { device = "cpu" })
      same_grains(T, "on GPU and CPU", r, q, identity, bound(s, r, 10), s)
    end },
}

return M
