-- expect: 65 rolling_friction: contact.rolling has a model: expected rolling = { coefficient = ... }
return sim.collision {
  box = { size = {1, 1, 1}, boundary = "wall" },
  grains = { sim.random_spheres { n = 10, radius = 0.05, density = 1000 } },
  contact = { law = "linear", contact_time = 1e-3, restitution = 0.5, friction = 0.5,
              rolling = { model = "viscous", coefficient = 0.1 },
              pairs = { { a = "grain", b = "wall", rolling_friction = 0.2 } } },
  integrate = { dt = "auto", t_end = 0.1 },
}
