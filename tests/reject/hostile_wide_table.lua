-- expect: 65 the scenario holds more than 500000 values
local t = {}
for i = 1, 2e6 do t[i] = i end
return sim.nbody { bodies = t }
