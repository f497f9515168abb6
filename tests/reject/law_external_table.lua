-- expect: 65 law_external_table.lua:5: external: result 1 is a table, expected a number
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(x) return { x } end,
  integrate = { dt = 1/64, t_end = 1 },
}
