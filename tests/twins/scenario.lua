-- A scenario as a plain Lua table: `call` for a constructor, `text` for a function's own text; `write` makes the file.
local M = {}
local Call, Text = {}, {}

function M.call(name, keys) return setmetatable({ name = name, keys = keys }, Call) end
function M.text(words) return setmetatable({ words = words }, Text) end
-- A function's text with numbers put in place of %g, exactly.
function M.fn(words, ...)
  local numbers, i = { ... }, 0
  return M.text((words:gsub("%%g", function()
    i = i + 1
    return "(" .. M.number(numbers[i]) .. ")"
  end)))
end
function M.is_text(v) return getmetatable(v) == Text end
function M.is_call(v, name) return getmetatable(v) == Call and (name == nil or v.name == name) end

function M.number(v)
  if math.type(v) == "integer" then return tostring(v) end
  if v ~= v then return "0/0" end
  if v == math.huge then return "math.huge" end
  if v == -math.huge then return "-math.huge" end
  return ("%.17g"):format(v)
end

local function sorted(t)
  local names = {}
  for k in pairs(t) do if type(k) == "string" then names[#names + 1] = k end end
  table.sort(names)
  return names
end

local function write(v, out, indent)
  local kind = getmetatable(v)
  if kind == Text then
    out[#out + 1] = v.words
  elseif kind == Call then
    out[#out + 1] = "sim." .. v.name .. " "
    write(v.keys, out, indent)
  elseif type(v) == "table" then
    out[#out + 1] = "{"
    local first = true
    local function next_one()
      out[#out + 1] = (first and "" or ",") .. (indent and "\n" .. indent or " ")
      first = false
    end
    for _, item in ipairs(v) do
      next_one()
      write(item, out)
    end
    for _, k in ipairs(sorted(v)) do
      next_one()
      out[#out + 1] = k .. " = "
      write(v[k], out)
    end
    out[#out + 1] = indent and "\n}" or " }"
  elseif type(v) == "string" then
    out[#out + 1] = ("%q"):format(v)
  elseif type(v) == "number" then
    out[#out + 1] = M.number(v)
  else
    out[#out + 1] = tostring(v)
  end
end

-- The text of a scenario file.
function M.write(scenario)
  local out = { "return " }
  write(scenario, out, "  ")
  out[#out + 1] = "\n"
  return table.concat(out)
end

function M.copy(v)
  if type(v) ~= "table" then return v end
  local new = {}
  for k, item in pairs(v) do new[k] = M.copy(item) end
  return setmetatable(new, getmetatable(v))
end

-- Every way to remove one key or one item: a list of functions that change a copy of the scenario.
function M.removals(scenario)
  local list = {}
  local function walk(v, path)
    if type(v) ~= "table" or getmetatable(v) == Text then return end
    for k, item in pairs(v) do
      local here = table.move(path, 1, #path, 1, {})
      here[#here + 1] = k
      if getmetatable(v) ~= Call then
        list[#list + 1] = function(copy)
          local t = copy
          for i = 1, #here - 1 do t = t[here[i]] end
          if math.type(k) then table.remove(t, k) else t[k] = nil end
        end
      end
      walk(item, here)
    end
  end
  walk(scenario.keys, { "keys" })
  return list
end

return M
