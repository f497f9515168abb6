-- expect: 65 law_observe_member.lua:5: observe.h: unknown input 'height', expected mass, x, y, z, vx, vy, vz, ax, ay, az, t
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  observe = { h = function(body) return body.height end },
  integrate = { dt = 1/64, t_end = 1 },
}
