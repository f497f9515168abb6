-- expect: 65 hostile_table_bomb.lua:4: the scenario holds more than 500000 values
local t = { 1 }
for i = 1, 30 do t = { t, t } end
return sim.nbody { bodies = t }
