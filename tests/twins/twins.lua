-- Two ways to ask the same thing must agree. Random scenarios of all models, each asked in two ways (twins of MODEL.lua).
--   twins_host twins.lua --sim PROGRAM [--seed N] [--cases N | --seconds S | --minutes M] [--model NAME] [--twin NAME]
--                        [--first N] [--case N] [--device cpu|cuda] [--scratch FOLDER] [--verbose]
-- A case is a function of seed and number: `--seed S --case N` repeats it. Exit status 1: ways disagree.
local folder = arg.folder or debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
package.path = folder .. "/?.lua;" .. package.path
setmetatable(_G, { __index = function(_, name) error("not defined: " .. name, 2) end })
local scenario, random, ask = require "scenario", require "random", require "ask"

local options = { seed = 1, first = 1, device = "cpu", scratch = "/tmp/twins" }
do
  local i = 1
  while arg[i] do
    local name = arg[i]:match("^%-%-([a-z]+)$") or error("not an option: " .. arg[i])
    if name == "verbose" then
      options.verbose = true
      i = i + 1
    else
      options[name] = tonumber(arg[i + 1]) or arg[i + 1]
      i = i + 2
    end
  end
end
assert(options.sim, "--sim PROGRAM is needed")
local begun = host.clock()
local deadline = options.minutes and begun + 60 * options.minutes or options.seconds and begun + options.seconds
local last_case = options.case or options.cases and options.first + options.cases - 1 or not deadline and options.first + 199
options.scratch = options.scratch .. "." .. tostring(options.seed) .. "." .. options.device
ask.setup(options)

-- For every model: messages about a run, and the form of the question, change nothing; a scenario that runs has no
-- faults to check.
local said_otherwise = {
  name = "said otherwise",
  prepare = function(_, R) return { words = R.pick("--log-json", "--profile", "-q", "-v"), title = R.chance(0.5) } end,
  check = function(T, s, a)
    local c = scenario.copy(s)
    if a.title then c.keys.title, c.keys.author = "Another title", "somebody" end
    local r, q = T:ask(s), T:ask(c, { words = { a.words } })
    T:same("digests with " .. a.words, r.digest, q.digest)
    T:same("exit code of sim check", 0, (host.run({ options.sim, "check", r.dir .. ".lua" }, 60)))
  end,
}

local models = {}
for _, name in ipairs { "option", "diffusion", "collision", "nbody", "fluid" } do
  if not options.model or options.model == name then
    models[#models + 1] = require(name)
    table.insert(models[#models].twins, said_otherwise)
  end
end

local counts = { cases = 0, agree = 0, refused = 0, failed = 0 }
local by_twin, reasons = {}, {}
local function tally(t, key) t[key] = (t[key] or 0) + 1 end

-- Outcome of one twin of a scenario: "agree", "refused" or "disagree", with its explanation.
local function outcome(twin, s, a, stage)
  local T = ask.case(stage, twin)
  local good, fault = xpcall(twin.check, function(e)
    return type(e) == "table" and e or { broken = debug.traceback(tostring(e)) }
  end, T, s, a)
  if good then return "agree", nil, T end
  if fault.refused then return "refused", fault.refused, T end
  if fault.broken then return "broken", fault.broken, T end
  return "disagree", fault, T
end

-- The verdict on a case: a difference that may be chance (in standard errors) is asked again with other paths, more of
-- them.
local function verdict(twin, s, a)
  local what, said, T = outcome(twin, s, a, 1)
  if what == "disagree" and said.chance then what, said, T = outcome(twin, s, a, 2) end
  return what, said, T
end

-- Removes everything that the disagreement does not need.
local function shrink(twin, s, a)
  local stop, changed = host.clock() + 60, true
  while changed and host.clock() < stop do
    changed = false
    for _, remove in ipairs(scenario.removals(s)) do
      if host.clock() > stop then break end
      local smaller = scenario.copy(s)
      if pcall(remove, smaller) and verdict(twin, smaller, a) == "disagree" then
        s, changed = smaller, true
        break
      end
    end
  end
  return s
end

local function run_case(number)
  random.begin(options.seed, number)
  local model = models[random.int(1, #models)]
  local s, fitting = nil, {}
  for _ = 1, 1000 do
    s = model.draw(random)
    for _, twin in ipairs(model.twins) do
      if (not options.twin or options.twin == twin.name) and (not twin.applies or twin.applies(s, options)) then
        for _ = 1, twin.weight or 1 do fitting[#fitting + 1] = twin end
      end
    end
    if #fitting > 0 then break end
  end
  if #fitting == 0 then return end
  local twin = fitting[random.int(1, #fitting)]
  local a = twin.prepare and twin.prepare(s, random) or {}
  counts.cases = counts.cases + 1
  local name = model.name .. "/" .. twin.name
  local what, said = verdict(twin, s, a)
  if options.verbose then print(number, name, what, type(said) == "table" and said.text or said or "") end
  if what == "broken" then error(("case %d of %s: %s"):format(number, name, said)) end
  tally(by_twin, name .. " " .. what)
  if what == "refused" then
    counts.refused = counts.refused + 1
    tally(reasons, name .. ": " .. said)
  elseif what == "agree" then
    counts.agree = counts.agree + 1
  else
    counts.failed = counts.failed + 1
    local small = options.shrink ~= "no" and shrink(twin, s, a) or s
    local again, now, T = verdict(twin, small, a)
    if again ~= "disagree" then small, now = s, said end
    print(("DISAGREE %s: %s\n  again by: --seed %s --case %d%s%s"):format(name, now.text, options.seed, number,
      options.model and " --model " .. options.model or "", options.twin and " --twin " .. options.twin or ""))
    for i, file in ipairs(T.asked) do print(("  -- way %d: %s\n%s"):format(i, file.words, file.text)) end
    io.stdout:flush()
  end
  ask.clear()
end

local number = options.case or options.first
while (not last_case or number <= last_case) and (not deadline or host.clock() < deadline) do
  run_case(number)
  number = number + 1
end
host.remove(options.scratch)

print(("%d cases, seed %s: %d agree, %d refused, %d disagree; %d comparisons, %d runs in %.0f s"):format(counts.cases,
  options.seed, counts.agree, counts.refused, counts.failed, ask.comparisons, ask.runs, host.clock() - begun))
if options.verbose or options.report then
  for _, t in ipairs { by_twin, reasons } do
    local lines = {}
    for k, n in pairs(t) do lines[#lines + 1] = ("%6d %s"):format(n, k) end
    table.sort(lines)
    print(table.concat(lines, "\n"))
  end
end
return counts.failed > 0 and 1 or 0
