-- Random systems of few bodies, and the ways to ask for their motion.
local scenario, ask = require "scenario", require "ask"
local call, fn, text, copy = scenario.call, scenario.fn, scenario.text, scenario.copy
local M = { name = "nbody" }
local axes = { "x", "y", "z" }

function M.draw(R)
  local keys = { bodies = {}, gravity = { softening = R.uniform(0.1, 0.3) } }
  local n = R.int(2, 24)
  for k = 1, n do
    local b = { mass = R.chance(0.1) and 0 or R.uniform(0.1, 2) / n, position = {}, velocity = {} }
    for i = 1, 3 do b.position[i], b.velocity[i] = R.uniform(-1, 1), R.uniform(-0.5, 0.5) end
    keys.bodies[k] = b
  end
  keys.bodies[1].mass = 1
  if R.chance(0.3) then keys.gravity.G = R.uniform(0.5, 2) end
  if R.chance(0.3) then
    keys.external = R.chance(0.5) and fn("function(x, y, z) return %g * (x^2 + %g * y^2 + z^2) end", R.uniform(0.1, 1), R.uniform(0.5, 1.5))
      or fn("function(x, y, z, t) return %g * math.log(0.5 + x^2 + y^2 + z^2) * (1 + 0.3 * math.sin(t)) end", R.uniform(0.1, 0.6))
    keys.external.inputs = keys.external.words:find("t%)") and { "x", "y", "z", "t" } or { "x", "y", "z" }
  end
  local t_end = R.uniform(0.2, 1.5)
  keys.integrate = { scheme = R.pick("leapfrog", "yoshida4", "hermite4"), t_end = t_end, dt = t_end / R.pick(16, 32, 50, 64) }
  if R.chance(0.15) then keys.integrate.dt, keys.integrate.dt_max = "adaptive", t_end / 8 end
  if R.chance(0.35) then keys.precision = R.pick("single", "mixed") end
  keys.seed = R.int(1, 1000000)
  keys.output = { snapshots = "ends", tables = "every 4 steps", checkpoint = "never" }
  return call("nbody", keys)
end

local vectors = { "position", "velocity" }
local function bodies(r)
  local list, by = {}, r.state.id
  if not by then error({ text = "no bodies in the snapshot" }) end
  for _, v in ipairs(vectors) do
    list[v] = {}
    for i = 1, 3 do
      list[v][i] = {}
      for k, id in ipairs(by) do list[v][i][id + 1] = r.state[v .. "/" .. axes[i]][k] end
    end
  end
  return list
end
-- Rounding: 64 units of an acceleration of up to 100 (mass 3, G 2, softening 0.1) a step, stretched by exp(lambda t)
-- with a rate lambda of up to 8 in a time of up to 1.5: softened encounters of few bodies.
local function eps(s) return s.keys.precision == "single" and 2 ^ -24 or s.keys.precision == "mixed" and 2 ^ -24 or 2 ^ -52 end
local function bound(s, more) return eps(s) * 2e4 * (more or 1) end
-- Amplification by a close passage: the error at the end over an error of 2^-30 at the start, in double precision.
local function amplification(T, s)
  local c, d = copy(s), copy(s)
  c.keys.precision, d.keys.precision = "double", "double"
  for k, b in ipairs(d.keys.bodies) do
    for i = 1, 3 do b.position[i] = b.position[i] + ((k + i) % 2 == 0 and 2 ^ -30 or -2 ^ -30) end
  end
  local a, b, most = bodies(T:ask(c)), bodies(T:ask(d)), 0
  for _, v in ipairs(vectors) do
    for i = 1, 3 do
      for k, x in ipairs(a[v][i]) do most = math.max(most, math.abs(x - b[v][i][k]) * 2 ^ 30) end
    end
  end
  return most
end
local function same_bodies(T, what, r, q, map, tolerance)
  local a, b = bodies(r), bodies(q)
  for _, v in ipairs(vectors) do
    for k = 1, #a[v][1] do
      local here = { map(v, a[v][1][k], a[v][2][k], a[v][3][k]) }
      for i = 1, 3 do T:near(("%s: %s %s of body %d"):format(what, v, axes[i], k - 1), here[i], b[v][i][k], tolerance) end
    end
  end
end
local function identity(_, x, y, z) return x, y, z end
local function fixed(s) return s.keys.integrate.dt ~= "adaptive" end
local function through(f, words, names)
  if not f then return nil end
  local g = text(("function(%s) return (%s)(%s) end"):format(table.concat(names or f.inputs, ", "), f.words, words))
  g.inputs = names or f.inputs
  return g
end
local function t_of(f) return f and f.inputs and #f.inputs == 4 and ", t" or "" end

M.twins = {
  { name = "axes turned", weight = 2,
    prepare = function(_, R) return { mirror = R.chance(0.5) } end,
    check = function(T, s, a)
      local c, sign = copy(s), a.mirror and -1 or 1
      for _, b in ipairs(c.keys.bodies) do
        for _, v in ipairs(vectors) do if b[v] then b[v] = { sign * b[v][3], b[v][1], b[v][2] } end end
      end
      c.keys.external = through(c.keys.external, ("y, z, %s x"):format(a.mirror and "-" or "") .. t_of(c.keys.external))
      local r, q = T:ask(s), T:ask(c)
      same_bodies(T, "axes turned", r, q, function(_, x, y, z) return sign * z, x, y end, bound(s))
    end },

  { name = "moving along", weight = 2,
    applies = function(s) return not s.keys.external end,
    prepare = function(_, R) return { x = { R.uniform(-3, 3), R.uniform(-3, 3), R.uniform(-3, 3) }, v = { R.uniform(-1, 1), R.uniform(-1, 1), R.uniform(-1, 1) } } end,
    check = function(T, s, a)
      local c = copy(s)
      for _, b in ipairs(c.keys.bodies) do
        for i = 1, 3 do b.position[i], b.velocity[i] = b.position[i] + a.x[i], (b.velocity or { 0, 0, 0 })[i] + a.v[i] end
      end
      local r, q, t = T:ask(s), T:ask(c), s.keys.integrate.t_end
      same_bodies(T, "from a moving frame", r, q, function(v, x, y, z)
        if v == "velocity" then return x + a.v[1], y + a.v[2], z + a.v[3] end
        return x + a.x[1] + a.v[1] * t, y + a.x[2] + a.v[2] * t, z + a.x[3] + a.v[3] * t
      end, math.max(bound(s, 10), 64 * eps(s) * amplification(T, s))) -- a unit of a coordinate of up to 4 in each of 64 steps
    end },

  { name = "other units", weight = 2,
    applies = function(s) return not s.keys.external end,
    check = function(T, s)
      local L, t, m = 4, 2, 8
      local c = copy(s)
      for _, b in ipairs(c.keys.bodies) do
        b.mass = b.mass * m
        for i = 1, 3 do b.position[i], b.velocity[i] = b.position[i] * L, (b.velocity or { 0, 0, 0 })[i] * L / t end
      end
      c.keys.gravity = c.keys.gravity or {}
      c.keys.gravity.G = (c.keys.gravity.G or 1) * L ^ 3 / m / t ^ 2
      c.keys.gravity.softening = (c.keys.gravity.softening or 0) * L
      local g = c.keys.integrate
      g.t_end = g.t_end * t
      if fixed(s) then g.dt = g.dt * t end
      if g.dt_max then g.dt_max = g.dt_max * t end
      local r, q = T:ask(s), T:ask(c)
      same_bodies(T, "in other units", r, q, function(v, x, y, z)
        local by = v == "position" and L or L / t
        return x * by, y * by, z * by
      end, bound(s, 4))
    end },

  { name = "in another order", weight = 1,
    check = function(T, s)
      local c, n = copy(s), #s.keys.bodies
      for k = 1, n do c.keys.bodies[k] = s.keys.bodies[n + 1 - k] end
      local r, q = T:ask(s), T:ask(c)
      local a, b = bodies(r), bodies(q)
      for _, v in ipairs(vectors) do
        for i = 1, 3 do
          local back = {}
          for k = 1, n do back[k] = b[v][i][n + 1 - k] end
          T:near(("in another order: %s %s"):format(v, axes[i]), a[v][i], back, bound(s))
        end
      end
    end },

  { name = "groups", weight = 2,
    prepare = function(s, R) return { split = R.int(1, math.max(1, #s.keys.bodies - 1)) } end,
    check = function(T, s, a)
      local c, n = copy(s), #s.keys.bodies
      local function rows(from, to)
        local list = {}
        for k = from, to do list[#list + 1] = { mass = s.keys.bodies[k].mass, position = s.keys.bodies[k].position, velocity = s.keys.bodies[k].velocity or { 0, 0, 0 } } end
        return text(("sim.each(%d, function(i) local b = (%s)[i] return b end)"):format(#list, (scenario.write(list):gsub("^return ", ""))))
      end
      c.keys.bodies = { rows(1, a.split) }
      if a.split < n then c.keys.bodies[2] = rows(a.split + 1, n) end
      local r, q = T:ask(s), T:ask(c)
      same_bodies(T, "single bodies and sim.each", r, q, identity, 0)
    end },

  { name = "gravity as a function", weight = 3,
    applies = function(s) return fixed(s) end,
    prepare = function(_, R) return { force = R.chance(0.5) } end,
    check = function(T, s, a)
      local c = copy(s)
      local G, e = (s.keys.gravity or {}).G or 1, (s.keys.gravity or {}).softening or 0
      c.keys.gravity = nil
      if a.force then c.keys.pair_force = fn("function(r2) return %g / (r2 + %g)^1.5 end", G, e * e)
      else c.keys.pair = fn("function(r2) return -%g / math.sqrt(r2 + %g) end", G, e * e) end
      local r, q = T:ask(s), T:ask(c)
      same_bodies(T, "gravity and a function", r, q, identity, bound(s))
      if not a.force then
        T:near("potential energy", r:last("energy", "potential"), q:last("energy", "potential"), bound(s, 10))
      end
    end },

  { name = "a law that ends, and a cutoff", weight = 2, -- in open space, and in a box whose faces are far away
    applies = function(s) return fixed(s) and s.keys.integrate.scheme ~= "hermite4" and not s.keys.external end,
    prepare = function(_, R) return { reach = R.uniform(0.5, 2), depth = R.uniform(-2, 2), force = R.chance(0.3), at = R.chance(0.5) and 0 or 32 } end,
    check = function(T, s, a)
      local c, c2 = copy(s), a.reach ^ 2
      c.keys.gravity = nil
      -- depth (c2 - r2)^2 has the force -4 depth (c2 - r2); at 0 all bodies cross faces of the box
      if a.force then c.keys.pair_force = fn("function(r2) return sim.where(sim.lt(r2, %g), %g * (%g - r2), 0) end", c2, -4 * a.depth, c2)
      else c.keys.pair = fn("function(r2) return sim.where(sim.lt(r2, %g), %g * (%g - r2)^2, 0) end", c2, a.depth, c2) end
      local d = copy(c)
      d.keys.box, d.keys.cutoff = { size = 64 }, math.sqrt(c2)
      for _, b in ipairs(d.keys.bodies) do
        for i = 1, 3 do b.position[i] = b.position[i] + a.at end
      end
      local r, q = T:ask(c), T:ask(d)
      same_bodies(T, "a law that ends and a cutoff", q, r, function(v, x, y, z)
        if v == "velocity" then return x, y, z end
        local function back(p) p = p - a.at return p > 32 and p - 64 or p end
        return back(x), back(y), back(z)
      end, bound(s, 64)) -- coordinates of up to 64
      if not a.force then T:near("potential energy", r:last("energy", "potential"), q:last("energy", "potential"), bound(s, 64)) end
    end },

  { name = "direct sums and multipoles", weight = 3,
    applies = function(s) return s.keys.integrate.scheme ~= "hermite4" end,
    prepare = function(_, R) return { n = R.int(200, 1500), error = R.pick(1e-3, 1e-4, 1e-5), kind = R.pick("plummer", "hernquist", "uniform_sphere") } end,
    check = function(T, s, a)
      -- Few bodies are one leaf, whose pairs are direct sums.
      local c, d = copy(s), copy(s)
      c.keys.gravity.solver, d.keys.gravity.solver = "direct", "fmm"
      same_bodies(T, "by both methods", T:ask(c), T:ask(d), identity, bound(s))
      -- Many bodies: the potential is a sum of terms whose derivatives are the forces, so that its relative error is
      -- below theirs.
      local many = { bodies = { call(a.kind, { n = a.n, mass = 1, radius = 1 }) }, gravity = { softening = 0.1, solver = "direct" }, seed = s.keys.seed,
        integrate = { dt = 1e-9, t_end = 1e-9 }, output = { snapshots = "never", tables = "ends", checkpoint = "never" } }
      local u = T:ask(call("nbody", many)):last("energy", "potential")
      many.gravity = { softening = 0.1, solver = "fmm", error = a.error }
      local v = T:ask(call("nbody", many))
      T:near("the potential by both methods", v:last("energy", "potential"), u, a.error * math.abs(u))
      T:near("the force error", math.max(v:last("force_error", "median") - a.error, 0), 0, 0)
    end },

  { name = "a fixed mass as external", weight = 2,
    applies = function(s) return not s.keys.external and fixed(s) end,
    check = function(T, s)
      local c = copy(s)
      for k, b in ipairs(c.keys.bodies) do if k > 1 then b.mass = 0 end end
      local centre = c.keys.bodies[1]
      centre.position, centre.velocity = { 0, 0, 0 }, { 0, 0, 0 }
      local d = copy(c)
      local G, e = (s.keys.gravity or {}).G or 1, (s.keys.gravity or {}).softening or 0
      d.keys.gravity, d.keys.pair = nil, 0
      d.keys.external = fn("function(x, y, z) return -%g / math.sqrt(x^2 + y^2 + z^2 + %g) end", G * centre.mass, e * e)
      local r, q = T:ask(c), T:ask(d)
      same_bodies(T, "a mass at rest and its potential", r, q, identity, bound(s))
    end },

  { name = "potential and force", weight = 1,
    applies = function(s) return s.keys.external ~= nil end,
    prepare = function(_, R) return { a = R.uniform(0.1, 1), b = R.uniform(0.5, 2) } end,
    check = function(T, s, a)
      local c, d = copy(s), copy(s)
      c.keys.external = fn("function(x, y, z) return %g * (x^2 + %g * y^2 * x + z^2 * y) end", a.a, a.b)
      d.keys.external = fn("function(x, y, z) local a, b = %g, %g return -a * (2 * x + b * y^2), -a * (2 * b * y * x + z^2), -a * 2 * z * y end", a.a, a.b)
      local r, q = T:ask(c), T:ask(d)
      same_bodies(T, "a potential and its force", r, q, identity, bound(s))
    end },

  { name = "back in time", weight = 1,
    applies = function(s) return s.keys.integrate.scheme ~= "hermite4" and fixed(s) and not (s.keys.external and #s.keys.external.inputs == 4) end,
    check = function(T, s)
      if s.keys.integrate.scheme == "hermite4" then error({ refused = "not reversible" }) end
      local r = T:ask(s)
      local there, c = bodies(r), copy(s)
      for k, b in ipairs(c.keys.bodies) do
        for i = 1, 3 do b.position[i], b.velocity[i] = there.position[i][k], -there.velocity[i][k] end
      end
      local q = T:ask(c)
      local back = bodies(q)
      for i = 1, 3 do
        for k, b in ipairs(s.keys.bodies) do
          T:near(("there and back: %s of body %d"):format(axes[i], k - 1), back.position[i][k], b.position[i], bound(s, 10))
          T:near(("there and back: v%s of body %d"):format(axes[i], k - 1), back.velocity[i][k], -(b.velocity or { 0, 0, 0 })[i], bound(s, 10))
        end
      end
    end },

  { name = "schemes", weight = 2,
    applies = function(s) return not s.keys.precision end,
    prepare = function(_, R) return { one = R.pick("leapfrog", "yoshida4"), two = R.pick("hermite4", "ias15") } end,
    check = function(T, s, a)
      local order = { leapfrog = 2, yoshida4 = 4, hermite4 = 4, ias15 = 15 }
      local function solve(scheme)
        local runs = {}
        for k, parts in ipairs { 128, 256 } do
          local c = copy(s)
          c.keys.integrate = { scheme = scheme, t_end = s.keys.integrate.t_end, dt = s.keys.integrate.t_end / parts }
          runs[k] = bodies(T:ask(c))
        end
        local most = 0
        for i = 1, 3 do
          for k, x in ipairs(runs[2].position[i]) do most = math.max(most, math.abs(x - runs[1].position[i][k])) end
        end
        return runs[2], 3 * most / (2 ^ order[scheme] - 1)
      end
      local r, e = solve(a.one)
      local q, f = solve(a.two)
      for i = 1, 3 do T:near(("%s and %s: %s"):format(a.one, a.two, axes[i]), r.position[i], q.position[i], e + f + bound(s)) end
    end },

  { name = "elements and position", weight = 1, -- of a body about the centre of mass of all others
    prepare = function(_, R)
      return { a = R.uniform(0.5, 2), e = R.uniform(0, 0.8), inc = R.uniform(0, 180), node = R.uniform(0, 360), peri = R.uniform(0, 360),
        M = R.uniform(-180, 180) }
    end,
    check = function(T, s, o)
      local c, d, mass, centre, drift = copy(s), copy(s), 0, { 0, 0, 0 }, { 0, 0, 0 }
      for _, b in ipairs(s.keys.bodies) do
        mass = mass + b.mass
        for i = 1, 3 do
          centre[i], drift[i] = centre[i] + b.mass * b.position[i], drift[i] + b.mass * (b.velocity or { 0, 0, 0 })[i]
        end
      end
      local M, E, e = math.rad(o.M), math.rad(o.M), o.e
      for _ = 1, 60 do E = E - (E - e * math.sin(E) - M) / (1 - e * math.cos(E)) end
      local motion, across = math.sqrt((s.keys.gravity.G or 1) * mass / o.a ^ 3), math.sqrt(1 - e * e)
      local speed = o.a * motion / (1 - e * math.cos(E))
      local cn, sn, ci, si = math.cos(math.rad(o.node)), math.sin(math.rad(o.node)), math.cos(math.rad(o.inc)), math.sin(math.rad(o.inc))
      local cp, sp = math.cos(math.rad(o.peri)), math.sin(math.rad(o.peri))
      local function turned(x, y, from)
        return { from[1] / mass + (cn * cp - sn * sp * ci) * x - (cn * sp + sn * cp * ci) * y,
          from[2] / mass + (sn * cp + cn * sp * ci) * x - (sn * sp - cn * cp * ci) * y, from[3] / mass + si * (sp * x + cp * y) }
      end
      local n = #s.keys.bodies + 1
      c.keys.bodies[n] = { mass = 0, orbit = o }
      d.keys.bodies[n] = { mass = 0, position = turned(o.a * (math.cos(E) - e), o.a * across * math.sin(E), centre),
        velocity = turned(-speed * math.sin(E), speed * across * math.cos(E), drift) }
      same_bodies(T, "by elements and by position", T:ask(c), T:ask(d), identity, bound(s))
    end },

  { name = "individual steps", weight = 1, -- all of the deepest level: steps of dt / 2 for all bodies
    applies = function(s) return s.keys.integrate.scheme == "leapfrog" and fixed(s) end,
    check = function(T, s)
      local c = copy(s)
      local g = c.keys.integrate
      g.steps, g.levels, g.eta, g.dt = "individual", 1, 1e-9, 2 * g.dt
      same_bodies(T, "shared and individual steps", T:ask(s), T:ask(c), identity, bound(s))
    end },

  { name = "precision", weight = 1, applies = fixed,
    prepare = function(_, R) return { other = R.pick("single", "mixed") } end,
    check = function(T, s, a)
      local c, d = copy(s), copy(s)
      c.keys.precision, d.keys.precision = a.other, "double"
      same_bodies(T, a.other .. " and double", T:ask(c), T:ask(d), identity, bound(c))
    end },

  { name = "budgets", weight = 2,
    check = function(T, s)
      local r = T:ask(s)
      local e = r.tables.energy
      if s.keys.external then return T:count() end
      for i = 1, 3 do
        for _, q in ipairs { "momentum_", "angular_momentum_" } do
          local p = e[q .. axes[i]]
          T:near(q .. axes[i], p[1], p[#p], q == "momentum_" and bound(s, 0.1) or s.keys.integrate.scheme == "hermite4" and 1e-2 or bound(s, 1))
        end
      end
      local x, v = e.centre_x, e.momentum_x
      local mass = 0
      for _, b in ipairs(s.keys.bodies) do mass = mass + b.mass end
      if mass > 0 then T:near("the centre's path", x[#x], x[1] + v[1] / mass * s.keys.integrate.t_end, bound(s)) end
    end },

  { name = "a snapshot read back", weight = 1,
    applies = function(s) return not s.keys.precision end,
    check = function(T, s)
      local r = T:ask(s)
      local names = host.list(r.dir .. "/snap")
      table.sort(names)
      local c, d, there = copy(s), copy(s), bodies(r)
      c.keys.bodies = { call("from_file", { path = r.dir .. "/snap/" .. names[#names] }) }
      for k, b in ipairs(d.keys.bodies) do
        for i = 1, 3 do b.position[i], b.velocity[i] = there.position[i][k], there.velocity[i][k] end
      end
      same_bodies(T, "from a snapshot and as numbers", T:ask(c), T:ask(d), identity, 0)
    end },

  { name = "tables and snapshots", weight = 2,
    check = function(T, s)
      local c = copy(s)
      c.keys.observe = { kinetic = text("function(body) return body.mass * (body.vx^2 + body.vy^2 + body.vz^2) / 2 end"),
        highest = text('{ function(body) return body.z end, reduce = "max" }'), middle = text('{ function(body) return body.x end, reduce = "mean" }') }
      local r = T:ask(c)
      local g, n = bodies(r), #s.keys.bodies
      local G, e = (s.keys.gravity or {}).G or 1, (s.keys.gravity or {}).softening or 0
      local kinetic, potential, high, middle, spin, p = 0, 0, -math.huge, 0, 0, 0
      local x, v = g.position, g.velocity
      for i = 1, n do
        local m = s.keys.bodies[i].mass
        kinetic = kinetic + m * (v[1][i] ^ 2 + v[2][i] ^ 2 + v[3][i] ^ 2) / 2
        spin = spin + m * (x[1][i] * v[2][i] - x[2][i] * v[1][i])
        p, high, middle = p + m * v[1][i], math.max(high, x[3][i]), middle + x[1][i] / n
        for j = 1, i - 1 do
          local r2 = (x[1][i] - x[1][j]) ^ 2 + (x[2][i] - x[2][j]) ^ 2 + (x[3][i] - x[3][j]) ^ 2
          potential = potential - G * m * s.keys.bodies[j].mass / math.sqrt(r2 + e * e)
        end
      end
      if c.keys.external then
        local phi = assert(load("return " .. c.keys.external.words, "=phi", "t", { math = math }))()
        for i = 1, n do potential = potential + s.keys.bodies[i].mass * phi(x[1][i], x[2][i], x[3][i], s.keys.integrate.t_end) end
      end
      local b = bound(s, 0.01) * 10
      T:near("kinetic energy", r:last("energy", "kinetic"), kinetic, b)
      T:near("kinetic energy by observe", r:last("observe", "kinetic"), kinetic, b)
      T:near("potential energy", r:last("energy", "potential"), potential, b)
      T:near("highest body", r:last("observe", "highest"), high, b)
      T:near("mean x", r:last("observe", "middle"), middle, b)
      T:near("angular momentum", r:last("energy", "angular_momentum_z"), spin, b)
      T:near("momentum", r:last("energy", "momentum_x"), p, b)
    end },

  { name = "moved groups", weight = 2,
    prepare = function(_, R)
      return { n = R.int(3, 40), kind = R.pick("plummer", "hernquist", "uniform_sphere"), at = { R.uniform(-3, 3), R.uniform(-3, 3), R.uniform(-3, 3) },
        v = { R.uniform(-1, 1), R.uniform(-1, 1), R.uniform(-1, 1) }, angle = R.uniform(-180, 180), swirl = R.uniform(-1, 1) }
    end,
    check = function(T, s, a)
      -- A group generated at the origin, then turned, moved and set moving by its keys: the same as turning its bodies
      -- here.
      local function ask(keys)
        keys.n, keys.mass, keys.radius = a.n, 1, 1
        local c = call("nbody", { bodies = { call(a.kind, keys) }, gravity = { softening = 0.1 }, seed = s.keys.seed,
          integrate = { dt = 1e-9, t_end = 1e-9 }, output = { snapshots = "ends", checkpoint = "never" } })
        return bodies(T:ask(c))
      end
      local here = ask {}
      local there = ask { position = a.at, velocity = a.v, rotation = { 0, 0, a.angle },
        velocity_field = fn("function(x, y) return -%g * y, %g * x, 0 end", a.swirl, a.swirl) }
      local cos, sin = math.cos(math.rad(a.angle)), math.sin(math.rad(a.angle))
      for k = 1, a.n do
        local x, y = here.position[1][k], here.position[2][k]
        local u, v = here.velocity[1][k], here.velocity[2][k]
        local px, py = cos * x - sin * y + a.at[1], sin * x + cos * y + a.at[2]
        T:near("x of a moved group", there.position[1][k], px, 1e-7)
        T:near("y of a moved group", there.position[2][k], py, 1e-7)
        T:near("z of a moved group", there.position[3][k], here.position[3][k] + a.at[3], 1e-7)
        T:near("vx of a moved group", there.velocity[1][k], cos * u - sin * v + a.v[1] - a.swirl * py, 1e-7)
        T:near("vy of a moved group", there.velocity[2][k], sin * u + cos * v + a.v[2] + a.swirl * px, 1e-7)
      end
    end },

  { name = "units", weight = 1,
    applies = function(s) return not s.keys.external and not s.keys.precision and fixed(s) end,
    check = function(T, s)
      -- Numbers of a scenario in pc, Msun and Myr, and the same written with units of their own (km and kyr).
      local c, d = copy(s), copy(s)
      c.keys.units = { length = "pc", mass = "Msun", time = "Myr" }
      c.keys.gravity = { softening = (s.keys.gravity or {}).softening or 0.1 }
      d.keys.units, d.keys.gravity = c.keys.units, copy(c.keys.gravity)
      local au_in_pc = math.pi / 648000
      d.keys.gravity.softening = ("%.17g au"):format(c.keys.gravity.softening / au_in_pc)
      d.keys.integrate.t_end = ("%.17g kyr"):format(s.keys.integrate.t_end * 1000)
      d.keys.integrate.dt = ("%.17g kyr"):format(s.keys.integrate.dt * 1000)
      local r, q = T:ask(c), T:ask(d)
      same_bodies(T, "with units of their own", r, q, identity, 1e-11)
      -- G of CODATA in pc^3/Msun/Myr^2 from the nominal GM of the sun is 4.4985e-3 to 1e-4 (mass of the sun).
      local e = copy(c)
      e.keys.units, e.keys.gravity.G = nil, 6.67430e-11 * 1.98841e30 * (365.25 * 86400e6) ^ 2 / (3.0856775814913673e16) ^ 3
      same_bodies(T, "with units and with G in numbers", r, T:ask(e), identity, 1e-6)
    end },

  { name = "stopped by a condition", weight = 1,
    applies = function(s) return fixed(s) end,
    prepare = function(_, R) return { after = R.int(1, 14) } end,
    check = function(T, s, a)
      local c, d = copy(s), copy(s)
      for _, x in ipairs { c, d } do x.keys.output = { snapshots = "ends", tables = "every 1 steps", checkpoint = "never" } end
      c.keys.stop_when = fn("function(o) return sim.ge(o.step, %g) end", a.after)
      local r = T:ask(c)
      T:same("steps until the condition holds", r.steps, a.after)
      local q = T:ask(d)
      local x, y = r.tables.energy, q.tables.energy
      for column, values in pairs(x) do
        for k = 1, #values do T:near("row " .. k .. " of " .. column, values[k], y[column][k], 0) end
      end
    end },

  ask.threads_twin(function(s) return not s.keys.precision end),
  ask.resumed_twin(function(R) return R.pick(3, 5, 10) end, { snapshots = "every 5 steps", tables = "every 1 steps" }),

  { name = "device", weight = 16, applies = function(_, options) return options.device == "cuda" end,
    check = function(T, s) same_bodies(T, "on GPU and CPU", T:ask(s), T:ask(s, { device = "cpu" }), identity, bound(s, 4)) end },
}

return M
