-- Checks in their outputs the statements in the headers of particle scenarios. A bound distinguishes the statement from
-- its opposite; the comment of each check has the values of these runs.

-- Returns the positions of one species, by components, in the snapshot at this index in a run's list (negative: from
-- the end), and the time of that snapshot.
local function positions(r, species, place)
  local names = host.list(r.dir .. "/snap")
  table.sort(names)
  local name = names[place < 0 and #names + 1 + place or place]
  local state = host.read(r.dir .. "/snap/" .. name)
  local step = tonumber(name:match("(%d+)"))
  local at = ("data/%d/particles/%s/position/"):format(step, species)
  return { state[at .. "x"], state[at .. "y"], state[at .. "z"] }, step, #names
end
-- Position of the dense part of a species: bodies that were thrown far do not move its median.
local function median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return sorted[(#sorted + 1) // 2]
end
local function centre(p) return { median(p[1]), median(p[2]), median(p[3]) } end
local function distance(a, b) return math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2) end

return function(checks, T, changed)
  local function holds(what, good, ...)
    T:count()
    if not good then T:disagree(what, ...) end
  end

  -- The radius of half the mass is least at t_ff = 1.1107. The graininess of 2048 bodies and the softening delay it by
  -- some per cent (4, known to 1 as rows are 0.025 apart; 8 allowed). The radius of a tenth of the mass falls from
  -- 0.464 to 0.048 (to a fourth at least); that of nine tenths grows from 0.97 to 5.5 (to twice at least).
  function checks.cold_collapse()
    local r = T:ask(changed("cold_collapse", { "4096", "2048" }, { "every 0.05", "every 0.025" }))
    local t, half = r.tables.lagrangian.time, r.tables.lagrangian.r50
    local least = 1
    for i = 1, #half do if half[i] < half[least] then least = i end end
    local t_ff = math.pi / 2 * math.sqrt(1 / 2)
    T:near("cold_collapse.lua: when half of the mass is nearest", t[least] / t_ff, 1, 0.08)
    -- The core moves away from the centre of mass, as more mass leaves on the other side: its radius is about its own
    -- centre.
    local function core(place)
      local p, radii = positions(r, "stars", place), {}
      local c = centre(p)
      for i = 1, #p[1] do radii[i] = distance(c, { p[1][i], p[2][i], p[3][i] }) end
      table.sort(radii)
      return radii[#radii // 10]
    end
    local halo = r.tables.lagrangian.r90
    holds("cold_collapse.lua: a dense core", core(-1) < core(1) / 4, "radius of a tenth from %g to %g", core(1), core(-1))
    holds("cold_collapse.lua: a wide halo", halo[#halo] > 2 * halo[1], "r90 from %g to %g", halo[1], halo[#halo])
  end

  -- Maxwell's limit is a ring of 2.3/n^2 of the planet's mass. Started with a displacement of 1e-4 from its circle, a
  -- ring of 0.1/n^2 remains a ring (7e-5 off at the end; the moons' own ellipses are 1e-4 wide), and one of 100/n^2
  -- does not.
  function checks.ring()
    local function widest(r)
      local moons = positions(r, "moons", -1)
      local planet = positions(r, "planet", -1)
      local most = 0
      for i = 1, #moons[1] do
        local d = distance({ moons[1][i], moons[2][i], moons[3][i] }, { planet[1][1], planet[2][1], planet[3][1] })
        most = math.max(most, math.abs(d - 1))
      end
      return most
    end
    local pushed = { "{c, s, 0}", "{1.0001 * c, s, 0}" }
    local light = widest(T:ask(changed("ring", { '"n", 300', '"n", 100' }, pushed)))
    local heavy = widest(T:ask(changed("ring", { '"n", 300', '"n", 100' }, pushed, { "0%.1 / n%^3", "100 / n^3" })))
    holds("ring.lua: stable", light < 2e-3, "a moon is %g off the ring of light moons", light)
    holds("ring.lua: so light that", heavy > 0.1, "no moon is more than %g off the ring of heavy moons", heavy)
  end

  -- Alone, a disk keeps its size and turns counter-clockwise about the axis that `rotation` gives it. Two disks fall
  -- together, swing past each other and merge: their centres are 16.1, 2.2, 6.9 and at t = 40 0.97 apart (a disk's
  -- scale length is 1). The radius of half of a lone galaxy's mass grows by 5 % with 900 bodies (10 allowed).
  function checks.galaxy()
    local fewer = { '"n", 3600', '"n", 300' }
    local alone = T:ask(changed("galaxy", fewer, { '    galaxy%("east"[^\n]*\n', "" },
      { 'galaxy%("west"[^\n]*%)', 'galaxy("west", { position = {0, 0, 0}, velocity = {0, 0, 0}, rotation = {0, 25, 0} })' }))
    local half = alone.tables.lagrangian.r50
    T:near("galaxy.lua: a disk in equilibrium", half[#half] / half[1], 1, 0.1)
    local first, second = positions(alone, "west", 1), positions(alone, "west", 2)
    local spin = { 0, 0, 0 }
    for i = 1, #first[1] do
      for k = 1, 3 do
        local a, b = k % 3 + 1, (k + 1) % 3 + 1
        spin[k] = spin[k] + first[a][i] * second[b][i] - first[b][i] * second[a][i]
      end
    end
    local tilt = math.rad(25)
    local along = (math.sin(tilt) * spin[1] + math.cos(tilt) * spin[3]) / distance(spin, { 0, 0, 0 })
    holds("galaxy.lua: turns counter-clockwise about its tilted axis", along > 0.98, "cosine %g", along)

    local both = T:ask(changed("galaxy", fewer, { '"t_end", 28', '"t_end", 40' }))
    local apart, _, count = {}, positions(both, "west", 1), #host.list(both.dir .. "/snap")
    for place = 1, count do
      apart[place] = distance(centre(positions(both, "west", place)), centre(positions(both, "east", place)))
    end
    local passage = 1
    while passage < count and apart[passage + 1] < apart[passage] do passage = passage + 1 end
    local furthest = passage
    while furthest < count and apart[furthest + 1] > apart[furthest] do furthest = furthest + 1 end
    holds("galaxy.lua: two disks fall together and swing past each other", passage < count and apart[passage] < 3 and apart[furthest] > apart[passage] + 1,
      "%g apart at first, then %g, then %g", apart[1], apart[passage], apart[furthest])
    holds("galaxy.lua: and merge", apart[count] < 1.5, "%g apart at the end", apart[count])
  end

  -- The angle of the surface: of the line z(x) that fits the highest grain of each of 10 columns in the drum's middle
  -- (16 and 26 degrees).
  function checks.drum()
    local function angle(friction)
      local r = T:ask(changed("drum", { '"friction", 0%.5', '"friction", ' .. friction }, { '"n", 600', '"n", 300' },
        { '"turns", 0%.2', '"turns", 0.15' }))
      local p, top = positions(r, "grains", -1), {}
      for i = 1, #p[1] do
        local column = math.floor((p[1][i] + 0.03) / 0.006)
        if column >= 0 and column < 10 then top[column] = math.max(top[column] or -1, p[3][i]) end
      end
      local n, x1, z1, xx, xz = 0, 0, 0, 0, 0
      for column, z in pairs(top) do
        n, x1, z1, xx, xz = n + 1, x1 + column, z1 + z, xx + column ^ 2, xz + column * z
      end
      return math.deg(math.atan(math.abs(n * xz - x1 * z1) / (n * xx - x1 ^ 2) / 0.006))
    end
    local little, much = angle("0.05"), angle("0.5")
    holds("drum.lua: the angle grows with friction", much > little + 5, "%.1f degrees at friction 0.05, %.1f at 0.5", little, much)
  end

  -- Means of the last half, of 12 rows: U of an atom has a standard deviation of 0.03 a row, the pressure one of 0.2.
  function checks.lj_fluid()
    local r = T:ask(changed("lj_fluid"))
    local t, n = r.tables.thermo, 864
    local u, p, kT, first, count = 0, 0, 0, 0, 0
    for k = #t.time // 2 + 1, #t.time do
      u, p, kT, count = u + t.full_potential[k] / n, p + t.full_pressure[k], kT + t.temperature[k], count + 1
      first = math.max(first, r.tables.rdf.g_17[k])
    end
    u, p, kT = u / count, p / count, kT / count
    holds("lj_fluid.lua: energy", math.abs(u + 5.54) < 0.05, "%.3f an atom", u)
    holds("lj_fluid.lua: pressure", math.abs(p - 1.0) < 0.3, "%.2f", p)
    holds("lj_fluid.lua: temperature", math.abs(kT - 1) < 0.05, "%.3f", kT)
    holds("lj_fluid.lua: molten", first > 2.2 and first < 3.2, "g(1.1) is %.2f", first)
    holds("lj_fluid.lua: diffusion", t.displacement2[#t.time] > 1.2, "atoms have moved by %.2f", math.sqrt(t.displacement2[#t.time]))
  end

  -- Atoms nearer than 1.6 touch. At the end 280 of 282 are connected, and the temperature in the two directions has
  -- risen from 0 to 0.56 (at least 0.4, of a bulk's 0.69 at melting).
  function checks.lennard_jones()
    local r = T:ask(changed("lennard_jones"))
    local x = { {}, {}, {} }
    for _, species in ipairs { "left", "right" } do
      local p = positions(r, species, -1)
      for k = 1, 3 do table.move(p[k], 1, #p[k], #x[k] + 1, x[k]) end
    end
    local n, seen, most = #x[1], {}, 0
    for start = 1, n do
      if not seen[start] then
        local list, done = { start }, 0
        seen[start] = true
        while done < #list do
          done = done + 1
          local i = list[done]
          for j = 1, n do
            if not seen[j] and distance({ x[1][i], x[2][i], x[3][i] }, { x[1][j], x[2][j], x[3][j] }) < 1.6 then
              seen[j] = true
              list[#list + 1] = j
            end
          end
        end
        most = math.max(most, #list)
      end
    end
    holds("lennard_jones.lua: one drop", most > 0.9 * n, "%d of %d atoms hang together", most, n)
    local heat = r.tables.observe.heat
    holds("lennard_jones.lua: melts", heat[1] == 0 and heat[#heat] > 0.4, "temperature %g, then %g", heat[1], heat[#heat])
  end
end
