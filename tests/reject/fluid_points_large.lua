-- expect: 65 grains: 0 (id, from 0) is 6.4 cells across: expected at most 6 with a law of drag; leave out `drag`
return sim.fluid {
  grid = { n = {32, 32, 32}, size = {32, 32, 32} }, viscosity = 0.1, speed = 0.1, drag = "schiller_naumann",
  grains = { { radius = 3.2, position = {8, 8, 8} } },
  contact = { contact_time = 10 },  integrate = { t_end = 10 } }
