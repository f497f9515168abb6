-- expect: 65 C stack overflow
local function f(i) return sim.each(1e7, f) end f(1)
