-- Burrau's problem of 1913: bodies of mass 3, 4 and 5 are let go at rest in the corners of a right-angled triangle,
-- each across from the side of its length. They pass each other closely many times (at t = 15.83 bodies 4 and 5 at a
-- distance of 0.0004). After t = 60 the lightest body is thrown out, and the other two stay as a binary of semi-major
-- axis 0.5525. Table `observe` holds the distance of the farthest body from the origin.
-- First solved by V. Szebehely and C. F. Peters, Astronomical Journal 72 (1967) 876.
--
-- Each close passage multiplies errors: of schemes of order 4 no setting throws the body out along the right path.
-- `ias15` ends within 0.001 of it: body 3 at {6.93346, 20.26180} from the centre of mass. The origin lies where the closest
-- passage happens, as coordinates near 0 are rounded least; with the centre of mass there instead it is 0.01 to 0.02.

local x0, y0 = 0.595, 0.325 -- of the centre of mass

return sim.nbody {
  title  = "Pythagorean problem",
  bodies = {
    { species = "three", mass = 3, position = {x0 + 1, y0 + 3, 0} },
    { species = "four",  mass = 4, position = {x0 - 2, y0 - 1, 0} },
    { species = "five",  mass = 5, position = {x0 + 1, y0 - 1, 0} },
  },
  observe   = { farthest = { function(body) return sim.hypot(body.x, body.y) end, reduce = "max" } },
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 70 },
  output    = { snapshots = "every 0.1", tables = "every 0.1" },
}
