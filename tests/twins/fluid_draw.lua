-- Random flows: sides, bodies, forces and eddy viscosity in all pairs.
local scenario = require "scenario"
local call, text, number = scenario.call, scenario.text, scenario.number
local M = {}
local axes = { "x", "y", "z" }
M.axes = axes

-- A function of the point on a grid of d axes; `pressure`: it gives one behind the velocity.
function M.fn(d, words, pressure)
  local f = text(("function(%s) %s end"):format(table.concat(axes, ", ", 1, d), words))
  f.d, f.pressure = d, pressure
  return f
end

-- A function of point, time and velocity, of which a force is; `warm`: and of the temperature.
function M.push(d, words, warm)
  local f = text(("function(%s, t, u%s%s) %s end"):format(table.concat(axes, ", ", 1, d), table.concat(axes, ", u", 1, d),
    warm and ", T" or "", words))
  f.d, f.warm = d, warm
  return f
end

-- A force: waves that move, a turn and a drag of the velocity; warm: how far temperatures are apart, of which it is a function too.
local function force(R, keys, dx, warm)
  local d, results, rate = #keys.grid.n, {}, keys.speed / dx
  local square = R.chance(0.3) and R.uniform(0, 0.5) / dx or 0
  for a = 1, d do
    local b = a % d + 1
    results[a] = ("%s * math.sin(%s * %s + %s * t) - %s * u%s + %s * u%s - %s * math.abs(u%s) * u%s%s"):format(
      number(R.uniform(-1, 1) * 0.005 * keys.speed * rate), number(2 * math.pi * R.int(0, 2) / keys.grid.size[b]), axes[b],
      number(R.uniform(-1, 1) * rate), number(R.uniform(0, 0.5) * rate), axes[a], number(R.uniform(-0.5, 0.5) * rate), axes[b],
      number(square), axes[a], axes[a], warm and (" + %s * (T - %s)"):format(number(R.uniform(-1, 1) * 0.002 * keys.speed * rate / warm), number(keys.heat.reference)) or "")
  end
  return M.push(d, "return " .. table.concat(results, ", "), warm and true)
end

-- A velocity of at most `most`, smooth over periodic sides, and a pressure or none.
local function start(R, keys, most)
  local d, results = #keys.grid.n, {}
  for a = 1, d do
    local b = a % d + 1
    results[a] = ("%s * math.sin(%s * %s + %s)"):format(number(R.uniform(-1, 1) * most / math.sqrt(d)),
      number(2 * math.pi * R.int(0, 2) / keys.grid.size[b]), axes[b], number(R.uniform(0, 6)))
  end
  if R.chance(0.3) then
    local sound = (keys.speed / keys.mach) ^ 2 * (keys.density or 1)
    results[d + 1] = ("%s * math.cos(%s * x)"):format(number(R.uniform(-0.02, 0.02) * sound), number(2 * math.pi / keys.grid.size[1]))
  end
  return M.fn(d, "return " .. table.concat(results, ", "), #results > d)
end

local function body(R, keys, dx, name)
  local d, n = #keys.grid.n, keys.grid.n
  local least = math.min(table.unpack(n))
  local b, kind = { name = name }, R.pick("ball", "cylinder", "block")
  local centre, radius = {}, R.uniform(1.5, least / 4)
  for a = 1, 3 do centre[a] = a <= d and R.uniform(0, n[a]) * dx or 0 end
  if kind == "block" then
    b.low, b.high = {}, {}
    for a = 1, 3 do
      local half = a <= d and R.uniform(1.2, least / 4) * dx or 0
      b.low[a], b.high[a] = centre[a] - half, centre[a] + half
    end
  else
    b.point, b.radius = centre, radius * dx
    if R.chance(0.25) then -- carried along periodic axes
      b.velocity = { 0, 0, 0 }
      for a = 1, d do if keys.grid[axes[a]] == "periodic" then b.velocity[a] = R.uniform(-0.3, 0.3) * keys.speed end end
    end
    if R.chance(0.5) then b.spin = R.uniform(-0.5, 0.5) * keys.speed / b.radius end
    local along = d == 2 and 3 or R.int(1, 3)
    if d == 3 then b.axis = { 0, 0, 0 } b.axis[along] = 1 end
    if R.chance(0.1) then
      b.inside, b.radius, b.spin = true, 0.45 * least * dx, nil
      for a = 1, d do b.point[a] = n[a] / 2 * dx end
    end
  end
  return call(kind, b)
end

-- Sides of an axis with walls: at rest, moving along itself, or an inlet and an outlet.
local function sides(R, keys, a)
  local d, low, high = #keys.grid.n, axes[a] .. "_low", axes[a] .. "_high"
  local function along()
    local u = {}
    for b = 1, d do u[b] = b == a and 0 or R.uniform(-0.4, 0.4) * keys.speed end
    return { velocity = u }
  end
  if not keys.open and R.chance(0.4) then
    keys.open = true
    if R.chance(0.5) then low, high = high, low end
    local u = {}
    for b = 1, d do u[b] = b == a and (high > low and -1 or 1) * R.uniform(0.1, 0.5) * keys.speed or 0 end
    u[a] = low:match("low") and math.abs(u[a]) or -math.abs(u[a])
    keys.sides[low], keys.sides[high] = { velocity = u }, { pressure = 0, straight = R.chance(0.3) or nil }
    for _, side in ipairs { low, high } do
      if R.chance(0.3) and keys.grid.n[a] >= 16 then keys.sides[side].sponge = 8 * keys.grid.size[a] / keys.grid.n[a] * (1 + 1e-9) end
    end
    return
  end
  if R.chance(0.5) then keys.sides[low] = along() end
  if R.chance(0.5) then keys.sides[high] = along() end
end

-- Heat: temperatures and heat fluxes of sides and bodies, with buoyancy, or a scalar that the flow carries; returns how far temperatures
-- are apart. The fluid that comes in has a temperature; that of an outlet is of what flows back.
local function heat(R, keys, dx)
  local d, apart = #keys.grid.n, R.log(0.1, 10)
  local h = { diffusivity = keys.viscosity * R.log(0.4, 1.5), reference = R.pick(0, 0, 300, R.uniform(-5, 5)), flux = {} }
  local function near() return h.reference + R.uniform(-1, 1) * apart end
  local function flux() return R.uniform(-1, 1) * apart * h.diffusivity / dx * 0.1 end
  for a = 1, d do
    for _, which in ipairs { "_low", "_high" } do
      local name = axes[a] .. which
      local side = keys.sides and keys.sides[name]
      local comes_in = side and side.velocity and side.velocity[a] ~= 0
      if comes_in or keys.grid[axes[a]] ~= "periodic" and R.chance(0.4) then
        h[name] = near()
      elseif keys.grid[axes[a]] ~= "periodic" and not (side and side.pressure) and R.chance(0.2) then
        h.flux[name] = flux()
      end
    end
  end
  if not next(h.flux) then h.flux = nil end
  for _, b in ipairs(keys.bodies or {}) do
    if R.chance(0.5) then b.keys.temperature = near() elseif R.chance(0.3) then b.keys.flux = flux() end
  end
  if R.chance(0.6) then
    h.expansion, h.gravity = R.log(0.01, 1), {}
    for a = 1, d do h.gravity[a] = R.uniform(-1, 1) * 0.003 * keys.speed ^ 2 / dx / (h.expansion * apart) end
  end
  if R.chance(0.8) then
    local words = {}
    for a = 1, d do
      words[a] = ("%s * math.cos(%s * %s + %s)"):format(number(R.uniform(-1, 1) * apart / d), number(2 * math.pi * R.int(0, 2) / keys.grid.size[a]), axes[a], number(R.uniform(0, 6)))
    end
    h.initial = M.fn(d, ("return %s + %s"):format(number(h.reference), table.concat(words, " + ")))
  end
  return h, apart
end

-- What is measured beside the tables: gates, the spectrum, derived fields and running means.
local function measures(R, keys)
  local d, moving, periodic = #keys.grid.n, false, true
  for _, b in ipairs(keys.bodies or {}) do moving = moving or b.keys.velocity ~= nil end
  for a = 1, d do periodic = periodic and keys.grid[axes[a]] == "periodic" end
  for k = 1, R.pick(0, 0, 1, 2) do
    local axis = R.int(1, d)
    local gate = { name = k == 1 and "gate" or "door", axis = axes[axis], at = R.uniform(0, keys.grid.size[axis]) }
    for a = 1, d do
      if a ~= axis and R.chance(0.5) then
        local from = R.uniform(0, 0.8)
        gate[axes[a]] = { from * keys.grid.size[a], R.uniform(from + 0.1, 1) * keys.grid.size[a] }
      end
    end
    keys.gates = keys.gates or {}
    keys.gates[k] = gate
  end
  if periodic and not keys.bodies and R.chance(0.5) then keys.spectrum = R.int(2, 6) end
  if R.chance(0.3) then
    local names = {}
    for _, name in ipairs(R.shuffle { "vorticity", "q", "shear" }) do if #names == 0 or R.chance(0.5) then names[#names + 1] = name end end
    keys.output.fields = table.concat(names, ", ")
  end
  if not moving and R.chance(0.3) then
    keys.average = { from = R.chance(0.5) and R.uniform(0, 8) * keys.integrate.dt or nil, every = R.pick(nil, 2, 3) }
  end
end

function M.draw(R)
  local d = R.pick(2, 2, 3)
  local dx = R.pick(1, 0.25, R.uniform(0.01, 0.3))
  local keys = { grid = { n = {}, size = {} }, speed = R.log(0.1, 10), mach = R.pick(0.05, 0.1, 0.15), sides = {} }
  local least = R.chance(0.15) and 64 or d == 2 and 14 or 9
  for a = 1, d do
    keys.grid.n[a] = d == 2 and least + R.int(0, 12) or math.min(least, 16) + R.int(0, 4)
    keys.grid.size[a] = keys.grid.n[a] * dx
    keys.grid[axes[a]] = R.pick("periodic", "periodic", "wall", "slip")
  end
  keys.viscosity = keys.speed * dx / R.log(0.3, 12)
  if R.chance(0.4) then keys.density = R.log(0.1, 1000) end
  if R.chance(0.4) then keys.turbulence = { smagorinsky = R.uniform(0.05, 0.3) } end
  for a = 1, d do if keys.grid[axes[a]] == "wall" then sides(R, keys, a) end end
  keys.open = nil
  if not next(keys.sides) then keys.sides = nil end
  if R.chance(0.5) then
    keys.acceleration = {}
    for a = 1, d do keys.acceleration[a] = R.uniform(-1, 1) * 0.005 * keys.speed ^ 2 / dx end
  end
  if R.chance(0.8) then keys.initial = start(R, keys, 0.5 * keys.speed) end
  for k = 1, R.pick(0, 1, 1, 2) do
    keys.bodies = keys.bodies or {}
    keys.bodies[k] = body(R, keys, dx, k == 1 and "one" or "two")
  end
  local moving, apart = false, nil
  for _, b in ipairs(keys.bodies or {}) do moving = moving or b.keys.velocity ~= nil end
  if not moving and R.chance(0.35) then keys.heat, apart = heat(R, keys, dx) end
  if keys.heat and keys.turbulence and R.chance(0.5) then keys.turbulence.prandtl = R.uniform(0.5, 1) end
  if R.chance(0.25) then keys.force = force(R, keys, dx, R.chance(0.5) and apart or nil) end
  if R.chance(0.3) then keys.precision = "single" end
  if not keys.turbulence and R.chance(0.4) then
    keys.collision = "trt"
    if R.chance(0.5) then keys.magic = R.log(0.05, 0.5) end
  end
  if d == 3 and R.chance(0.3) then keys.lattice = "D3Q27" end
  local dt = R.uniform(0.5, 1) * math.min(keys.mach / math.sqrt(3) * dx / keys.speed, dx * dx / (6 * keys.viscosity))
  keys.integrate = { dt = dt, t_end = (R.int(10, 40) - 0.5) * dt }
  keys.output = { snapshots = "ends", tables = "every 1 steps", checkpoint = "never" }
  measures(R, keys)
  return call("fluid", keys)
end

return M
