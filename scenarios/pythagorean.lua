-- Burrau's problem of 1913: bodies of mass 3, 4 and 5 are let go at rest in the corners of a right-angled triangle,
-- each across from the side of its length. They pass each other closely many times (at t = 15.83 bodies 4 and 5 at a
-- distance of 0.0004). After t = 60 the lightest body is thrown out, and the other two stay as a binary of semi-major
-- axis 0.5525 (0.553 in this run). Table `observe` holds the distance of the farthest body from the origin.
-- First solved by V. Szebehely and C. F. Peters, Astronomical Journal 72 (1967) 876.
--
-- Each close passage multiplies errors: with eta = 1e-3 no body is thrown out by t = 70. The origin lies where the
-- closest passage happens, as coordinates near 0 are rounded least. With the centre of mass there instead, rounding in
-- double precision alone spreads the binary's semi-major axis from 0.50 to 0.63.

local x0, y0 = 0.595, 0.325 -- of the centre of mass

return sim.nbody {
  title  = "Pythagorean problem",
  bodies = {
    { species = "three", mass = 3, position = {x0 + 1, y0 + 3, 0} },
    { species = "four",  mass = 4, position = {x0 - 2, y0 - 1, 0} },
    { species = "five",  mass = 5, position = {x0 + 1, y0 - 1, 0} },
  },
  observe   = { farthest = { function(body) return sim.hypot(body.x, body.y) end, reduce = "max" } },
  integrate = { scheme = "hermite4", dt = "adaptive", eta = 5e-5, t_end = 70 },
  output    = { snapshots = "every 0.1", tables = "every 0.1" },
}
