-- Burrau's problem of 1913: bodies of mass 3, 4 and 5 are let go at rest in the corners of a right-angled triangle,
-- each across from the side of its length. They meet closely many times (at t = 15.83 bodies 4 and 5 pass at a
-- distance of 0.0004), until one is thrown out. The step adapts by a factor of thousands.
-- First solved by V. Szebehely and C. F. Peters, Astronomical Journal 72 (1967) 876.

return sim.nbody {
  title  = "Pythagorean problem",
  bodies = {
    { species = "three", mass = 3, position = { 1,  3, 0} },
    { species = "four",  mass = 4, position = {-2, -1, 0} },
    { species = "five",  mass = 5, position = { 1, -1, 0} },
  },
  integrate = { scheme = "hermite4", dt = "adaptive", eta = 1e-3, t_end = 70 },
  output    = { snapshots = "every 0.5", tables = "every 0.1" },
}
