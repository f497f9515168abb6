-- Random beds and gases of few grains.
local scenario, ask = require "scenario", require "ask"
local call = scenario.call
local M = {}
local axes = { "x", "y", "z" }

-- Laws by name, in place of those by a number.
local function named(R, c)
  if not ask.knows("collision", "cohesion") or R.chance(0.6) then return end
  if R.chance(0.5) then
    c.rolling_friction = nil
    c.rolling = { model = R.pick("spring_dashpot", "sds", "constant_torque", "viscous"), coefficient = R.uniform(0.02, 0.2) }
    if c.rolling.model == "sds" then c.rolling.stiffness, c.rolling.damping = R.uniform(1, 5), R.chance(0.5) and R.log(1e-4, 1e-3) or nil end
  end
  if R.chance(0.4) then
    c.twisting_friction = nil
    c.twisting = { model = R.pick("spring_dashpot", "constant_torque", "viscous", c.friction and "marshall" or "viscous") }
    if c.twisting.model ~= "marshall" then c.twisting.coefficient = R.uniform(0.02, 0.2) end
  end
  if R.chance(0.6) then
    c.surface_energy = nil
    local model = R.pick("dmt", "square_well", "liquid_bridge", c.law == "hertz" and not c.limit_damping and "jkr" or "dmt")
    c.cohesion = { model = model }
    if model == "dmt" or model == "jkr" then c.cohesion.surface_energy = R.log(1e-4, 1e-2)
    elseif model == "square_well" then c.cohesion.energy, c.cohesion.range = R.log(1e-6, 1e-5), R.uniform(0.005, 0.02)
    else c.cohesion.surface_tension, c.cohesion.volume, c.cohesion.contact_angle = R.log(1e-4, 1e-2), R.log(1e-8, 1e-6), R.uniform(0, 1) end
  end
  if R.chance(0.3) and c.friction then -- else it has no effect, and is refused
    c.tangential = c.law == "linear" and "linear_history" or R.pick("mindlin", "mindlin/force", "mindlin_rescale", "mindlin_rescale/force")
  end
end

local function contact(R, fixed_point)
  local c = { law = not fixed_point and R.chance(0.4) and "hertz" or "linear" }
  if c.law == "hertz" then
    c.young, c.poisson = R.log(2e3, 2e4), R.uniform(0, 0.45)
    if R.chance(0.7) then c.restitution = R.uniform(0.3, 1) end
  else
    if R.chance(0.7) then c.contact_time = R.uniform(0.01, 0.02) else c.stiffness = R.uniform(20, 60) end
    if R.chance(0.8) then c.restitution = R.uniform(0.3, 1) end
  end
  if c.restitution and c.law == "linear" and ask.knows("collision", "limit_damping") and R.chance(0.3) then c.limit_damping = true end
  if not fixed_point then
    if R.chance(0.6) then c.friction = R.uniform(0.1, 0.8) end
    if c.friction and R.chance(0.25) then c.rolling_friction = R.uniform(0.02, 0.2) end
    if c.friction and R.chance(0.25) then c.twisting_friction = R.uniform(0.02, 0.2) end
    if R.chance(0.15) then c.surface_energy = R.log(1e-4, 1e-2) end
    named(R, c)
  end
  return c
end

function M.draw(R)
  local keys = { box = { size = { 1, 1, 1 }, origin = { 0, 0, 0 } }, grains = {} }
  local s = call("collision", keys)
  local gas = R.chance(0.2)
  for i = 1, 3 do
    if R.chance(0.4) then keys.box.origin[i] = R.dyadic(-2, 2) end
    local kind = gas and "periodic" or R.pick("periodic", "wall", "wall", "open")
    keys.box[axes[i] .. "_low"], keys.box[axes[i] .. "_high"] = kind, kind
    if kind == "open" and R.chance(0.4) then keys.box[axes[i] .. "_low"] = "wall" end
  end
  local cells = {}
  for k = 0, 26 do cells[k + 1] = { k % 3, k // 3 % 3, k // 9 } end
  R.shuffle(cells)
  local same = R.chance(0.4) and R.uniform(0.05, 0.11)
  local still = gas and 0 or R.pick(0, 1)
  for k = 1, R.int(2, 14) do
    local r = same or R.uniform(0.05, 0.11)
    local g = { radius = r, position = {}, velocity = {}, density = R.chance(0.3) and R.uniform(0.5, 3) or nil }
    for i = 1, 3 do
      local room = 1 / 6 - r - 0.002
      g.position[i] = keys.box.origin[i] + (cells[k][i] + 0.5) / 3 + R.uniform(-room, room)
      g.velocity[i] = R.uniform(-1, 1)
    end
    if not gas and R.chance(0.5) then g.angular_velocity = { R.uniform(-5, 5), R.uniform(-5, 5), R.uniform(-5, 5) } end
    if not gas and R.chance(0.2) then g.material = "other" end
    if gas then g.density = nil end
    keys.grains[k] = g
  end
  -- A body in the middle cell, where no grain is: it may move and turn.
  if not gas and R.chance(0.3) then
    local middle, free = { 0, 0, 0 }, true
    for i = 1, 3 do middle[i] = keys.box.origin[i] + 0.5 end
    for k = 1, #keys.grains do if cells[k][1] == 1 and cells[k][2] == 1 and cells[k][3] == 1 then free = false end end
    local wall
    local kind = R.int(1, 3)
    if kind == 1 then
      wall = call("ball", { point = middle, radius = R.uniform(0.05, 0.11) })
    elseif kind == 2 then
      wall = call("cone", { point = { middle[1], middle[2], middle[3] - 0.04 }, axis = { 0, 0, 1 }, length = 0.08, radius = R.uniform(0.03, 0.08), end_radius = R.uniform(0.03, 0.08) })
    else
      wall = call("block", { low = { middle[1] - 0.06, middle[2] - 0.05, middle[3] - 0.04 }, high = { middle[1] + 0.05, middle[2] + 0.06, middle[3] + 0.07 }, point = middle })
    end
    if R.chance(0.5) then
      wall.keys.velocity = { R.uniform(-0.15, 0.15), R.uniform(-0.15, 0.15), R.uniform(-0.15, 0.15) }
    end
    if R.chance(0.5) then
      if kind ~= 2 then wall.keys.axis = { R.uniform(-1, 1), R.uniform(-1, 1), 1 } end
      wall.keys.spin = R.uniform(-4, 4)
    end
    if free then keys.walls = { wall } end
  end
  keys.contact = contact(R, gas)
  if not gas and R.chance(0.5) then keys.gravity = { R.uniform(-2, 2), R.uniform(-2, 2), R.uniform(-5, 1) } end
  local others = false
  for _, g in ipairs(keys.grains) do others = others or g.material == "other" end
  if others and R.chance(0.4) then
    keys.contact.pairs = { { a = "grain", b = "other", friction = R.uniform(0, 0.5), restitution = R.uniform(0.4, 0.9) } }
    if not keys.contact.restitution then keys.contact.pairs[1].restitution = nil end
  end
  keys.integrate = { t_end = R.uniform(0.05, 0.4) }
  if gas and R.chance(0.7) or R.chance(0.2) then keys.precision = "single" end
  keys.seed = R.int(1, 1000000)
  keys.output = { snapshots = "ends", tables = "every 200 steps", checkpoint = "never" }
  return s
end

return M
