-- expect: 65 fields[1].initial: takes `file`, and the field has none
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = function(file, x) return file * x end } },
  integrate = { t_end = 1 },
}
