-- Draws of one case: a function only of the campaign's seed and the case's number.
local R = {}
function R.begin(seed, case) math.randomseed(seed, case) end
function R.uniform(a, b) return a + (b - a) * math.random() end
-- Between a and b, evenly in the logarithm.
function R.log(a, b) return a * (b / a) ^ math.random() end
function R.int(a, b) return math.random(a, b) end
function R.chance(p) return math.random() < p end
function R.pick(...) return (select(math.random(select("#", ...)), ...)) end
-- A number of few binary digits, so that sums and products with others stay exact.
function R.dyadic(a, b, digits)
  local unit = 2.0 ^ -(digits or 6)
  return math.floor(R.uniform(a, b) / unit + 0.5) * unit
end
function R.shuffle(list)
  for i = #list, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end
return R
