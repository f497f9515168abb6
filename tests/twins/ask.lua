-- Asks `sim` for a scenario's results, and compares those of two ways.
local scenario = require "scenario"
local M = { comparisons = 0, runs = 0 }
local setup, memory, count

function M.setup(options)
  setup, memory, count = options, {}, 0
  host.remove(options.scratch)
  host.make(options.scratch)
end
function M.clear()
  memory, count = {}, 0
  host.remove(setup.scratch)
  host.make(setup.scratch)
end

-- Whether this program's description of a model has a word: a feature that another revision lacks is not drawn.
local described = {}
function M.knows(model, word)
  if not described[model] then
    local _, words = host.run({ setup.sim, "describe", model }, 60)
    described[model] = words
  end
  return described[model]:find(word, 1, true) ~= nil
end

local function file_text(path)
  local file = io.open(path)
  if not file then return "" end
  local text = file:read("a")
  file:close()
  return text
end

-- Results of a run: `tables`[NAME][COLUMN][row], `last`(TABLE, COLUMN), `state` (the last snapshot, by path behind the
-- step; of a mesh and of particles with one path that of the mesh).
local Result = {}
Result.__index = function(r, key)
  if Result[key] then return Result[key] end
  if key == "tables" then
    r.tables = host.read(r.dir .. "/tables.h5") or {}
  elseif key == "state" then
    local names = host.list(r.dir .. "/snap")
    table.sort(names)
    r.state = {}
    for path, values in pairs(names[1] and host.read(r.dir .. "/snap/" .. names[#names]) or {}) do
      local mesh = path:match("^data/%d+/meshes/(.*)$")
      local short = mesh or path:match("^data/%d+/particles/[^/]+/(.*)$")
      if short and (mesh or not r.state[short]) then r.state[short] = values end
    end
  end
  return rawget(r, key)
end
function Result:last(name, column)
  local list = self.tables[name] and self.tables[name][column]
  return list and list[#list]
end

local Case = {}
Case.__index = Case
function M.case(stage, twin) return setmetatable({ stage = stage, twin = twin, asked = {} }, Case) end

-- Runs a scenario. how: `words`, further arguments; `device`; `threads` (1); `resume`, a folder in which to continue.
function Case:ask(s, how)
  how = how or {}
  local text = type(s) == "string" and s or scenario.write(s)
  local words = { "--threads", tostring(how.threads or 1), "--device", how.device or setup.device }
  for _, word in ipairs(how.words or {}) do words[#words + 1] = word end
  local said = table.concat(words, " ")
  local key = text .. said .. (how.fresh or "")
  self.asked[#self.asked + 1] = { text = text, words = said }
  if memory[key] then
    if memory[key].refused then error({ refused = memory[key].refused }) end
    return memory[key]
  end
  count = count + 1
  M.runs = M.runs + 1
  local dir = ("%s/%d"):format(setup.scratch, count)
  local file = assert(io.open(dir .. ".lua", "w"))
  file:write(text)
  file:close()
  local line = { setup.sim, "run", dir .. ".lua", "-o", dir, "--no-progress" }
  table.move(words, 1, #words, #line + 1, line)
  return self:finish(dir, key, host.run(line, how.limit or 60))
end

-- A file beside the scenarios, for them to read.
function Case:file(name, words)
  local file = assert(io.open(setup.scratch .. "/" .. name, "w"))
  file:write(words)
  file:close()
end

-- Continues in the folder of a result, from one of its checkpoints (the oldest that exists).
function Case:again(result, threads)
  local names = host.list(result.dir .. "/ckpt")
  table.sort(names)
  if #names == 0 then error({ refused = "no checkpoint to go on from" }) end
  local line = { setup.sim, "run", result.dir .. ".lua", "-o", result.dir, "--resume=" .. result.dir .. "/ckpt/" .. names[1],
    "--no-progress", "--threads", tostring(threads or 1), "--device", setup.device }
  self.asked[#self.asked + 1] = { text = "  (the same)\n", words = "--resume from " .. names[1] }
  M.runs = M.runs + 1
  return self:finish(result.dir, {}, host.run(line, 60))
end

function Case:finish(dir, key, code, out)
  local r = setmetatable({ dir = dir, code = code, out = out }, Result)
  memory[key] = r
  r.warned = out:match("warning: [^\n]*")
  local status = file_text(dir .. "/status.json")
  r.digest = status:match('"digest"%s*:%s*"(%x+)"')
  r.steps = tonumber(status:match('"step"%s*:%s*(%d+)'))
  if code == 0 then return r end
  local reason = (out:match("error: ([^\n]*)") or out:match("[^\n]*lua:[^\n]*") or out:match("([^\n]*)\n$") or "nothing said")
  if code == 65 or code == 69 or code == 71 or code == 78 or code == 80 then
    r.refused = ("exit %d: %s"):format(code, reason:gsub("/%S*/", ""):gsub("%-?%d+%.?%d*e?[-+]?%d*", "#"):sub(1, 150))
    error({ refused = r.refused })
  end
  error({ text = ("exit %d: %s"):format(code, reason) })
end

-- ---- comparisons: each ends the case where it fails ---------------------------------------------------------------

function Case:disagree(what, ...) error({ text = what .. ": " .. string.format(...) }) end

function Case:count() M.comparisons = M.comparisons + 1 end

-- Bit for bit.
function Case:same(what, a, b)
  M.comparisons = M.comparisons + 1
  if a == nil or a ~= b then self:disagree(what, "%s and %s", tostring(a), tostring(b)) end
end

-- Numbers, or lists of numbers, that differ by at most `bound`.
function Case:near(what, a, b, bound)
  M.comparisons = M.comparisons + 1
  if type(a) ~= "table" then a, b = { a }, { b } end
  if #a ~= #(b or {}) then self:disagree(what, "%d and %d values", #a, #(b or {})) end
  local worst, at = -1, 0
  for i = 1, #a do
    local d = math.abs(a[i] - b[i])
    if a[i] ~= a[i] and b[i] ~= b[i] or a[i] == b[i] then d = 0 end
    if d ~= d then d = math.huge end
    if d > worst then worst, at = d, i end
  end
  if worst > bound then
    self:disagree(what, "%.17g and %.17g (value %d of %d) differ by %.3g, more than %.3g", a[at], b[at], at, #a, worst, bound)
  end
  return worst
end

-- Compares two estimates with standard errors. At 4 standard errors the case is asked again with 16 times as many other
-- paths, and disagrees beyond 5 there. The errors of Sobol's points come from 32 scrambles, so Student's t of 31
-- degrees: 3.6e-4 times 1.1e-5 (one side), below 1e-3 for a campaign of 2e5 comparisons. `bias`: the error that a
-- scheme may add.
function Case:sure(what, a, ea, b, eb, bias)
  M.comparisons = M.comparisons + 1
  ea, eb, bias = ea or 0, eb or 0, bias or 0
  if ea ~= ea or eb ~= eb then return end -- no path has paid: nothing is claimed
  local limit = bias + (self.stage == 1 and 4 or 5) * math.sqrt(ea * ea + eb * eb)
  if not (math.abs(a - b) <= limit) then
    error({ chance = true, text = ("%s: %.10g +- %.2g and %.10g +- %.2g%s, %.1f standard errors"):format(what, a, ea, b, eb,
      bias > 0 and (" (bias up to %.2g)"):format(bias) or "", math.abs(a - b) / math.sqrt(ea * ea + eb * eb)) })
  end
end

-- ---- twins that models share ----

-- Any number of threads, and the plain instruction set where plain(scenario) allows it, give the same bits.
function M.threads_twin(plain)
  return { name = "threads", weight = 2,
    prepare = function(_, R) return { threads = R.int(2, 3), isa = R.chance(0.5) } end,
    check = function(T, s, a)
      local words = a.isa and plain(s) and { "--isa", "plain" } or {}
      T:same("digests of 1 and more threads", T:ask(s).digest, T:ask(s, { threads = a.threads, words = words }).digest)
    end }
end

-- Any number of ranks of the CPU gives the same bits: digest and tables.
function M.ranks_twin()
  return { name = "ranks", weight = 2,
    applies = function(_, options) return options.device ~= "cuda" end,
    prepare = function(_, R) return { ranks = R.pick(2, 3, 4, 7) } end,
    check = function(T, s, a)
      local r, q = T:ask(s), T:ask(s, { words = { "--ranks", tostring(a.ranks) } })
      T:same("digests of 1 and more ranks", r.digest, q.digest)
      for name, columns in pairs(r.tables) do
        for column, values in pairs(columns) do T:near(("table %s, %s"):format(name, column), values, q.tables[name][column], 0) end
      end
    end }
end

-- A run with many outputs, a run with few, and a run that continues from a checkpoint every every(R) steps: same
-- digests and tables.
function M.resumed_twin(every, cadence)
  return { name = "resumed", weight = 2,
    prepare = function(_, R) return { every = every(R) } end,
    check = function(T, s, a)
      local straight = T:ask(s)
      local c = scenario.copy(s)
      local fields = s.keys.output and s.keys.output.fields
      c.keys.output = { snapshots = cadence.snapshots, tables = cadence.tables, checkpoint = ("every %d steps"):format(a.every), fields = fields }
      local r = T:ask(c, { fresh = "resume" })
      local digest, tables = r.digest, r.tables
      T:same("digests with few and many outputs", straight.digest, digest)
      local again = T:again(r, 2)
      T:same("digests of a run and one that went on", digest, again.digest)
      for name, columns in pairs(tables) do
        for column, values in pairs(columns) do T:near(("table %s, %s"):format(name, column), values, again.tables[name][column], 0) end
      end
    end }
end

return M
