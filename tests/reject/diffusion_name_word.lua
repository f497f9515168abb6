-- expect: 65 fields[2].name: "end" is a word of Lua, which no parameter of rates can have
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 1, initial = 0 }, { name = "end" } },
  rates     = function(u) return u, u end,
  integrate = { scheme = "etd1", dt = 0.01, t_end = 1 },
}
