-- expect: 65 law_external_if.lua:5: external: a symbol cannot be compared by < or >: use sim.where
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(x) if x > 0 then return x end return 0 end,
  integrate = { dt = 1/64, t_end = 1 },
}
