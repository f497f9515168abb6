-- expect: 65 solid.path: expected one %d or %03d for the number of an image, got "a%s%n.png"
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {1, 1, 1} }, viscosity = 0.1, speed = 1, solid = { path = "a%s%n.png" },
  integrate = { t_end = 1 } }
