-- Checks numbers in the headers of option scenarios, in README and in pages of docs/ that belong to no model, against
-- programs and formulas; and the statements in the headers of particle scenarios (claims_particles.lua): twins_host
-- claims.lua --sim PROGRAM --root SOURCES --scratch FOLDER.
local folder = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
package.path = folder .. "/?.lua;" .. package.path
local ask, F = require "ask", require "formulas"

local options = { device = "cpu" }
for i = 1, #arg, 2 do options[arg[i]:match("^%-%-(.*)$")] = arg[i + 1] end
ask.setup(options)
local T = ask.case(1, "claims")

local function text(path)
  local file = assert(io.open(options.root .. "/" .. path))
  local words = file:read("a")
  file:close()
  return words
end
-- Returns the number (or numbers) in a page's words; the words must be there.
local function said(path, pattern)
  local words = text(path):gsub("%s*\n%-*%s*", " ")
  local found = table.pack(words:match(pattern))
  if not found[1] then error({ text = path .. " no longer says '" .. pattern .. "': the claim's check in claims.lua is to follow" }) end
  for i = 1, found.n do found[i] = tonumber((found[i]:gsub(",", ""))) or found[i] end
  return table.unpack(found)
end
-- Returns the text of a scenario with some of its words replaced; each must be there.
local function changed(name, ...)
  local words = text("scenarios/" .. name .. ".lua")
  for _, pair in ipairs { ... } do
    local count
    words, count = words:gsub(pair[1], pair[2])
    if count == 0 then error({ text = name .. ".lua has no " .. pair[1] }) end
  end
  return words
end
-- A number with this many decimals stands for the value that it is rounded from.
local function rounded(what, value, claim, decimals) T:near(what, value, claim, 0.5 * 10 ^ -decimals * 1.0001) end

local checks = {}

function checks.european()
  local page = "scenarios/european.lua"
  local call, put, delta, vega = said(page, "Black and Scholes: ([%d.]+) and ([%d.]+); delta ([%d.]+), vega ([%d.]+)%.%s")
  local function price(isput, spot, vol) return F.black(isput, spot * math.exp(0.05), vol ^ 2, 100, math.exp(-0.05)) end
  rounded("european.lua: call", price(false, 100, 0.2), call, 4)
  rounded("european.lua: put", price(true, 100, 0.2), put, 4)
  rounded("european.lua: delta", (price(false, 100.001, 0.2) - price(false, 99.999, 0.2)) / 0.002, delta, 4)
  rounded("european.lua: vega", (price(false, 100, 0.20001) - price(false, 100, 0.19999)) / 2e-5, vega, 2)
  local r = T:ask(changed("european", { "2%^20", "2^17" }))
  T:sure("european.lua: its call", r:last("prices", "payoff_1"), r:last("errors", "payoff_1"), call, 1e-4)
  T:sure("european.lua: its put", r:last("prices", "payoff_2"), r:last("errors", "payoff_2"), put, 1e-4)
  T:sure("european.lua: its delta", r:last("price", "delta"), r:last("price", "delta_error"), delta, 1e-4)
  T:sure("european.lua: its vega", r:last("price", "vega"), r:last("price", "vega_error"), vega, 1e-2)
end

-- The variance that the control removes; a variance of 2^15 samples is known to some per cent.
function checks.asian_control()
  local ratio = said("scenarios/asian_control.lua", "divides the variance by (%d+)")
  local error_wanted = said("scenarios/asian_control.lua", "to a standard error of ([%d.]+e%-%d+)")
  T:near("asian_control.lua: its standard_error", said("scenarios/asian_control.lua", "standard_error = ([%d.e-]+)"), error_wanted, 0)
  local few = { "standard_error = [%d.e-]+, paths = 2%^24", "paths = 2^16" }
  local with, without = T:ask(changed("asian_control", few)), T:ask(changed("asian_control", few, { 'control = "geometric", ', "" }))
  local e, f = with:last("price", "standard_error"), without:last("price", "standard_error")
  T:near("asian_control.lua: variance without and with", (f / e) ^ 2 / ratio, 1, 0.2)
end

-- Errors of 32 scrambles are known to 13 %; three of those.
function checks.basket_sobol()
  local times = said("scenarios/basket_sobol.lua", "standard error some (%w+) times below")
  times = ({ forty = 40 })[times] or tonumber(times)
  local plain = { "greeks      = { delta = true },", "" }
  local r = T:ask(changed("basket_sobol", plain))
  local q = T:ask(changed("basket_sobol", plain, { 'sequence = "sobol", scrambles = 32, paths = 2%^20', "paths = 2^16" }))
  T:near("basket_sobol.lua: errors of random paths and Sobol's", q:last("errors", "payoff_1") / 4 / r:last("errors", "payoff_1") / times, 1, 0.4)
end

-- A put that may be exercised at 50 dates, by Cox, Ross and Rubinstein's tree of n steps.
local function tree(spot, strike, rate, vol, maturity, n)
  local dt = maturity / n
  local u, grow = math.exp(vol * math.sqrt(dt)), math.exp(rate * dt)
  local p, v = (grow - 1 / u) / (u - 1 / u), {}
  for i = 0, n do v[i] = math.max(strike - spot * u ^ (2 * i - n), 0) end
  for k = n - 1, 0, -1 do
    local s = spot * u ^ -k
    for i = 0, k do
      v[i] = (p * v[i + 1] + (1 - p) * v[i]) / grow
      if k % (n // 50) == 0 and k > 0 then v[i] = math.max(v[i], strike - s) end
      s = s * u * u
    end
  end
  return v[0]
end

function checks.american_put()
  local american, european = said("scenarios/american_put.lua", "Their table 1 has ([%d.]+) and ([%d.]+):")
  rounded("american_put.lua: the European one", F.black(true, 36 * math.exp(0.06), 0.04, 40, math.exp(-0.06)), european, 3)
  rounded("american_put.lua: the American one", (tree(36, 40, 0.06, 0.2, 1, 1000) + tree(36, 40, 0.06, 0.2, 1, 1050)) / 2, american, 3)
  local r = T:ask(changed("american_put", { "2%^19", "2^16" }, { "greeks    = { delta = true },", "" }))
  -- A fitted rule loses up to 0.3 %.
  T:sure("american_put.lua: the American one", r:last("prices", "payoff_1"), r:last("errors", "payoff_1"), american, 0, 0.003 * american)
  T:sure("american_put.lua: its European one", r:last("prices", "payoff_3"), r:last("errors", "payoff_3"), european, 1e-3)
end

-- Every row of the table of functions: the bound of the test program, and the error seen, which must be below it.
function checks.functions()
  local rows, bounds, count = {}, {}, 0
  for name, bound, single in text("tests/engine/expr_functions.c"):gmatch('{"([^"]+)",%s*SIM_EXPR_[A-Z0-9_]+,%s*[%w_]+,%s*[%w_]+,%s*([%d.]+),%s*([%d.]+),') do
    bounds[name] = { tonumber(bound), tonumber(single) }
  end
  for line in text("docs/functions.md"):gmatch("[^\n]+") do
    local name, rest, a, seen, b, seen_single = line:match("^| `([^`]+)`([^|]*) | ([%d.]+) %(([%d.]+)%) | ([%d.]+) %(([%d.]+)%) |$")
    if name then
      rows[name .. rest] = true
      count = count + 1
      local want = bounds[name .. rest]
      if not want then error({ text = "docs/functions.md: the test has no row " .. name .. rest }) end
      T:near("docs/functions.md: bound of " .. name .. rest, tonumber(a), want[1], 0.0051)
      T:near("docs/functions.md: bound of " .. name .. rest .. " in single", tonumber(b), want[2], 0.0051)
      if tonumber(seen) > tonumber(a) or tonumber(seen_single) > tonumber(b) then error({ text = "docs/functions.md: more was seen than is allowed of " .. name }) end
    end
  end
  for name, want in pairs(bounds) do
    if want[1] > 0 and not rows[name] then error({ text = "docs/functions.md has no row " .. name }) end
  end
  if count < 30 then error({ text = ("docs/functions.md: only %d rows"):format(count) }) end
end

-- "the last three are kept", "a digest in the last 512 bytes", "32 hex digits".
function checks.outputs()
  said("docs/outputs.md", "(the last three are kept)")
  said("README.md", "(the last three are kept)")
  local bytes = said("docs/outputs.md", "A digest in the last (%d+) bytes covers the file")
  local digits = said("docs/outputs.md", "(%d+) hex digits over the whole state")
  local r = T:ask([[return sim.nbody { bodies = { { mass = 1, position = {1, 0, 0} }, { mass = 1, position = {-1, 0, 0} } },
    integrate = { dt = 1/8, t_end = 2 }, output = { checkpoint = "every 1 steps", tables = "ends" } }]])
  local kept = host.list(r.dir .. "/ckpt")
  T:near("docs/outputs.md: checkpoints that are kept", #kept, 3, 0)
  T:near("docs/outputs.md: digits of a digest", #r.digest, digits, 0)
  local file = assert(io.open(r.dir .. "/ckpt/" .. kept[1], "rb"))
  T:same("docs/outputs.md: a checkpoint begins as HDF5", file:read(4), "\137HDF")
  file:seek("end", -bytes)
  T:same("docs/outputs.md: where the digest of a checkpoint begins", file:read(7), "SIMSEAL")
  file:close()
end

-- A default in a page is the default of `sim describe`.
function checks.cluster()
  local minutes = said("docs/hpc.md", "every (%d+) minutes if nothing is said")
  local _, described = host.run({ options.sim, "describe", "nbody" }, 20)
  T:same("docs/hpc.md: cadence of checkpoints", described:match('checkpoint%s[^\n]*\n%s*cadence; default every (%d+) min'), tostring(minutes))
  local toolkit = said("docs/hpc.md", "CUDA toolkit ([%d.]+) or later")
  T:same("docs/hpc.md and docs/gpu.md: toolkit", tostring(toolkit), tostring((said("docs/gpu.md", "CUDA toolkit, ([%d.]+) or newer"))))
  T:same("docs/gpu.md: toolkit", tostring(toolkit), tostring((said("cmake/SimCuda.cmake", "sim_nvcc_release VERSION_LESS ([%d.]+)"))))
  T:near("docs/hpc.md: CMake", said("docs/hpc.md", "CMake ([%d.]+)"), said("CMakeLists.txt", "cmake_minimum_required%(VERSION ([%d.]+)%)"), 0)
  local many = said("docs/hpc.md", "More than (%d+) runs want `%-%-yes`")
  T:file("n.lua", 'local n = sim.param("n", 1) return sim.nbody { bodies = { { mass = n } }, integrate = { dt = 1, t_end = 1 } }')
  for runs = many, many + 1 do
    local code, out = host.run({ options.sim, "sweep", options.scratch .. "/n.lua", "--set", ("n=1..%d"):format(runs), "--array" }, 20)
    if (code == 64 and out:find("--yes", 1, true) ~= nil) ~= (runs > many) then
      T:disagree("docs/hpc.md: runs that want --yes", "exit %d of %d: %s", code, runs, out:sub(1, 200))
    end
  end
end

-- The step of README's picture belongs to the time that README states.
function checks.readme()
  local time, step = said("README.md", "at t = (%d+) .*%-%-step (%d+) ")
  local dt = said("scenarios/galaxy.lua", "dt = 1/(%d+)")
  T:near("README.md: time of the picture", step / dt, time, 0)
end

-- Limits of the language in the page are those in the messages.
function checks.language()
  local operations = said("docs/scenario.md", "at most (%d+) operations")
  T:near("docs/scenario.md: operations", said("engine/expr/expr.h", "SIM_EXPR_NODES_MAX = (%d+),"), operations, 0)
  local values = said("docs/scenario.md", "of ([%d,]+) values")
  local code, out = host.run({ options.sim, "check", (function()
    T:file("v.lua", ("local t = {} for i = 1, %d do t[i] = {1, 2, 3} end return sim.nbody(t)"):format(values // 4 + 1))
    return options.scratch .. "/v.lua"
  end)() }, 20)
  if code ~= 65 or not out:find(("more than %d values"):format(values), 1, true) then T:disagree("docs/scenario.md: values", "exit %d: %s", code, out:sub(1, 200)) end
end

require "claims_particles"(checks, T, changed)

local names, failed = {}, 0
for name in pairs(checks) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  if not options.only or options.only == name then
    local good, fault = xpcall(checks[name], function(e) return type(e) == "table" and e or { text = debug.traceback(tostring(e)) } end)
    if not good then
      failed = failed + 1
      print("FAILED " .. (fault.text or fault.refused))
    end
  end
end
host.remove(options.scratch)
print(("%d pages and headers, %d comparisons, %d differ"):format(#names, ask.comparisons, failed))
return failed > 0 and 1 or 0
