-- expect: 65 drag: expected one of "none", "stokes", "schiller_naumann", "di_felice", got the string "gidaspow"
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.1, speed = 0.1, drag = "gidaspow",
  grains = { { radius = 0.5, position = {8, 8, 8} } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
