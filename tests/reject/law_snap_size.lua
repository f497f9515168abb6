-- expect: 65 time derivatives, which hermite4 needs
return sim.nbody {
  bodies   = { { mass = 1, position = {1, 0.2, 0.1}, velocity = {0.1, 0, 0} } },
  pair     = 0,
  external = function(x, y, z)
    local s = 0
    for i = 1, 60 do
      local dx, dy, dz = x - math.cos(i), y - math.sin(i), z - i * 0.01
      s = s - 1 / math.sqrt(dx^2 + dy^2 + dz^2 + 0.01)
    end
    return s
  end,
  integrate = { scheme = "hermite4", dt = "adaptive", dt_max = 1/64, t_end = 0.1 },
}
