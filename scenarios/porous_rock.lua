-- Water through a rock, from a stack of images in which the grains are bright: the table `porous` has its porosity and its
-- permeability, here of spheres that overlap, in square micrometres (0.987 of them are a darcy). A pixel is 5 micrometres wide,
-- times are seconds, and gravity drives the water. With two relaxation times the permeability depends neither on the
-- viscosity nor on the step.

local pixel, n = 5, 32
local viscosity = sim.param("viscosity", 1e6, "kinematic; the permeability does not depend on it")
local decays = sim.param("decays", 50, "length of the run: by what momentum takes to cross a pixel, pixel^2/viscosity")

return sim.fluid {
  title        = "The permeability of a rock",
  grid         = { n = {n, n, n}, size = {n * pixel, n * pixel, n * pixel} },
  collision    = "trt",
  viscosity    = viscosity,
  speed        = 2e9 / viscosity,
  acceleration = {0, 0, -9.81e6},
  solid        = { path = "../data/rock/%02d.png" },
  integrate    = { t_end = decays * pixel^2 / viscosity },
  output       = { snapshots = "ends", tables = "every 10 steps" },
}
