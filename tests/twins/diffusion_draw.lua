-- Random fields on grids.
local scenario, ask = require "scenario", require "ask"
local call, text = scenario.call, scenario.text
local M = {}
local axes = { "x", "y", "z" }

-- A function's text with the names of its inputs, so that another function may call it.
local function inputs(f, list)
  f.inputs = list
  return f
end

local function start(R, grid, boundary)
  local d, terms = #grid.n, {}
  for k = 1, R.int(1, 3) do
    local factors = {}
    for i = 1, d do
      local L, m = grid.size[i], R.int(0, 2)
      if boundary[i] == "periodic" then
        factors[i] = ("math.cos(%s * %s + %s)"):format(scenario.number(2 * math.pi * m / L), axes[i], scenario.number(R.uniform(0, 6)))
      elseif boundary[i] == "no_flux" then
        factors[i] = ("math.cos(%s * %s)"):format(scenario.number(math.pi * m / L), axes[i])
      else
        factors[i] = ("math.sin(%s * %s)"):format(scenario.number(math.pi * (m + 1) / L), axes[i])
      end
    end
    terms[k] = ("%s * %s"):format(scenario.number(R.uniform(-0.4, 0.4)), table.concat(factors, " * "))
  end
  local names = table.move(axes, 1, d, 1, {})
  local offset = boundary.fixed and 0 or R.uniform(0.2, 0.8)
  return inputs(text(("function(%s) return %s + %s end"):format(table.concat(names, ", "), scenario.number(offset), table.concat(terms, " + "))), names)
end

local function rates(R, keys, boundary)
  local two = #keys.fields == 2
  local a, b = R.uniform(0.5, 2), R.uniform(0.2, 1)
  local kind = R.int(1, 6)
  local along = axes[R.int(1, #keys.grid.n)]
  if kind == 4 and keys.grid[along] ~= "periodic" then kind = 1 end
  local first, names
  if kind == 1 then first, names = "%a * u * (1 - u)", { "u" }
  elseif kind == 2 then first, names = "%a * u * (1 - u^2)", { "u" }
  elseif kind == 3 then first, names = "-%a * u + %b * math.sin(3 * t)", { "u", "t" }
  elseif kind == 4 then first, names = "-%b * u * u_" .. along, { "u", "u_" .. along }
  elseif kind == 5 and boundary[1] == "periodic" then
    first, names = "-%a * u * (1 + math.cos(" .. scenario.number(2 * math.pi / keys.grid.size[1]) .. " * x))", { "u", "x" }
  else first, names = "%a * u / (1 + u^2)", { "u" } end
  if two then
    first = first .. " - %b * u * v"
    table.insert(names, 2, "v")
  end
  local words = ("function(%s) return %s%s end"):format(table.concat(names, ", "), first, two and ", %b * (u - v)" or "")
  return inputs(text((words:gsub("%%a", "(" .. scenario.number(a) .. ")"):gsub("%%b", "(" .. scenario.number(b) .. ")"))), names), kind == 4
end

-- Walls of the fields that mix value and slope, along an axis that lets nothing through: beside walls of values, and
-- beside decay, all numbers are 0.
local function mix_walls(R, keys, boundary)
  local along = nil
  for i = 1, #boundary do if boundary[i] == "no_flux" then along = along or axes[i] end end
  if not along or not R.chance(0.25) or not ask.knows("diffusion", "robin") then return end
  local low, high = { a = R.log(0.1, 10), b = R.log(0.1, 10) }, R.pick("robin", "value", "slope", "none")
  local number = R.uniform(-1, 1)
  for _, f in ipairs(keys.fields) do
    local value = (boundary.fixed or f.decay) and 0 or number
    f.walls = nil
    f.sides = { [along .. "_low"] = { robin = { a = low.a, b = low.b, g = low.a * value } } }
    if high == "robin" then f.sides[along .. "_high"] = { robin = { a = low.b, b = 1, g = low.b * value / 2 } }
    elseif high ~= "none" then f.sides[along .. "_high"] = { [high] = value / 2 } end
  end
end

function M.draw(R)
  local d = R.pick(1, 1, 2, 2, 3)
  local grid, boundary = { n = {}, size = {} }, {}
  local all = R.chance(0.5) and R.pick("periodic", "no_flux", "fixed") or nil
  for i = 1, d do
    grid.n[i] = d == 1 and R.pick(16, 20, 24, 32, 48, 64) or d == 2 and R.pick(8, 10, 12, 16, 24) or R.pick(6, 8, 10, 12)
    grid.size[i] = R.chance(0.3) and 1 or R.uniform(0.8, 3)
    boundary[i] = all or R.pick("periodic", "periodic", "no_flux", "fixed")
    grid[axes[i]] = boundary[i]
    if boundary[i] == "fixed" then boundary.fixed = true end
  end
  local keys = { grid = grid, fields = {} }
  local s = call("diffusion", keys)
  local periodic, fixed = 0, {}
  for i = 1, d do
    if boundary[i] == "periodic" then periodic = periodic + 1 end
    if boundary[i] == "fixed" then fixed[#fixed + 1] = i end
  end
  for k = 1, R.pick(1, 1, 2) do
    local f = { name = k == 1 and "u" or "v", D = R.log(0.002, 0.1) }
    if R.chance(0.3) then f.axes = { R.uniform(0.3, 2), d > 1 and R.uniform(0.3, 2) or 1, d > 2 and R.uniform(0.3, 2) or 1 } end
    if R.chance(0.3) then f.decay = R.uniform(-0.3, 1) end
    if R.chance(0.2) then f.hyper = R.log(1e-6, 1e-4) end
    if R.chance(0.3) and periodic > 0 then
      f.drift = {}
      for i = 1, 3 do f.drift[i] = boundary[i] == "periodic" and R.uniform(-1, 1) or 0 end
    end
    if boundary[1] == "periodic" and boundary[2] == "periodic" and R.chance(0.2) then
      local a = f.axes or { 1, 1, 1 }
      f.tensor = { R.uniform(-0.9, 0.9) * f.D * math.sqrt(a[1] * a[2]), 0, 0 }
    end
    if #fixed == 1 and R.chance(0.5) then f.walls, f.decay = { R.uniform(-1, 1), R.uniform(-1, 1) }, nil end
    f.initial = start(R, grid, boundary)
    if R.chance(0.15) then f.noise = R.log(0.001, 0.1) end
    keys.fields[k] = f
  end
  if #keys.fields == 2 and R.chance(0.25) then
    local most = 0.5 * math.sqrt(keys.fields[1].D * keys.fields[2].D)
    keys.fields[1].cross, keys.fields[2].cross = { 0, R.uniform(-most, most) }, { R.uniform(-most, most), 0 }
    for _, f in ipairs(keys.fields) do f.axes, f.tensor = nil, nil end
  end
  mix_walls(R, keys, boundary)
  local t_end = R.log(0.1, 1)
  keys.integrate = { t_end = t_end, dt = t_end / R.pick(4, 8, 16, 20) }
  if R.chance(0.75) then
    local derivative
    keys.rates, derivative = rates(R, keys, boundary)
    keys.integrate.scheme = derivative and R.pick("etd1", "etdrk2", "etdrk4", "lie") or R.pick("lie", "strang", "etd1", "etdrk2", "etdrk4", "etdrk4")
    if R.chance(0.3) then keys.integrate.dealias = R.chance(0.5) and ask.knows("diffusion", "1/2") and 0.5 or true end
    if R.chance(0.2) and ask.knows("diffusion", "padding:") then keys.integrate.dealias = "padding" end
    if R.chance(0.15) and keys.integrate.scheme:match("rk") then
      keys.integrate.dt, keys.integrate.rtol = nil, 1e-4
    end
    if R.chance(0.1) and keys.integrate.scheme ~= "strang" then keys.fields[1].fluctuation = R.log(0.001, 0.1) end
  end
  if R.chance(0.3) then keys.precision = "single" end
  keys.seed = R.int(1, 1000000)
  keys.output = { snapshots = "ends", tables = "ends", checkpoint = "never" }
  return s
end

M.inputs = inputs
return M
