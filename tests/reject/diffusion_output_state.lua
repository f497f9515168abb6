-- expect: 65 output.fields: expected names of derived fields, got "pressure", a field of the state: all outputs have it anyhow
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.1 }, { name = "v", D = 0.1 }, { name = "pressure", D = 0.1, initial = 1 } },
  rates     = function(u, v, pressure) return -u, -v, -pressure end, solenoidal = "u, v",
  integrate = { scheme = "etdrk2", dt = 1e-3, t_end = 1 }, output = { snapshots = "ends", fields = "vorticity, pressure" },
}
