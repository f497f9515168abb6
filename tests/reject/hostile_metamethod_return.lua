-- expect: 65 a table with a metatable
local t = sim.nbody {} setmetatable(t, { __len = function() while true do end end, __pairs = error }) return t -- return sim
