-- expect: 65 law_external_pcall.lua:5: external: a symbol cannot be compared by < or >
return sim.nbody {
  bodies    = { { mass = 1, position = {1, 0, 0} } },
  external  = function(x, y, z)
    local good = pcall(function() return x < 1 end)
    return good and x^2 or y^2
  end,
  integrate = { dt = 0.1, t_end = 1 },
}
