-- expect: 65 keys_nested_deep.lua:8: gravity.G
local deep = {}
for i = 1, 1000 do deep = { deep } end
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },

  integrate = { dt = 1/256, t_end = 1 },
  gravity   = { G = deep },
}
