-- expect: 65 law_external_two.lua:5: external: expected 1 or 3 results (potential, or acceleration ax, ay, az), got 2
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(x, y) return x, y end,
  integrate = { dt = 1/64, t_end = 1 },
}
