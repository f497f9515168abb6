-- expect: 65 the scenario holds more than 64 MiB
local s, t = ("x"):rep(2e6), {}
for i = 1, 100 do t[i] = s end
return sim.nbody { bodies = t }
