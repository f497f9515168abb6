-- Water through a rock, from a stack of images in which the grains are bright: the table `porous` has its porosity and its
-- permeability, here of spheres that overlap, in m^2 (a darcy is 9.87e-13). In SI units: a pixel is 5 micrometres, and gravity
-- drives the water along z. With two relaxation times the permeability does not depend on the viscosity nor on the step.

local pixel, n = 5e-6, 32
local viscosity = sim.param("viscosity", 1e-6, "kinematic; the permeability does not depend on it")
local decays = sim.param("decays", 50, "of time: what momentum takes to cross a pixel, pixel^2/viscosity")

return sim.fluid {
  title        = "The permeability of a rock",
  grid         = { n = {n, n, n}, size = {n * pixel, n * pixel, n * pixel} },
  collision    = "trt",
  viscosity    = viscosity,
  density      = 1000,
  speed        = 2e-3 * 1e-6 / viscosity,
  acceleration = {0, 0, -9.81},
  solid        = { path = "../data/rock/%02d.png" },
  integrate    = { t_end = decays * pixel^2 / viscosity },
  output       = { snapshots = "ends", tables = "every 10 steps" },
}
