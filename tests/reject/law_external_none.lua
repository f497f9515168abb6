-- expect: 65 law_external_none.lua:5: external: expected a potential that depends on x, y or z: this one gives no force
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(x, y, z, t) return t^2 end,
  integrate = { dt = 1/64, t_end = 1 },
}
