#!/usr/bin/env bash
# expect: 65 bodies[1]: is 3 long along x, where the box is periodic
cat >body.stl <<'STL'
solid a
facet normal 0 0 1 outer loop vertex 0.2 0.2 0.2 vertex 0.8 0.2 0.2 vertex 0.2 0.8 0.2 endloop endfacet
facet normal 0 0 1 outer loop vertex 0.2 0.2 0.2 vertex 0.2 0.8 0.2 vertex 0.2 0.2 0.8 endloop endfacet
facet normal 0 0 1 outer loop vertex 0.2 0.2 0.2 vertex 0.2 0.2 0.8 vertex 0.8 0.2 0.2 endloop endfacet
facet normal 1 1 1 outer loop vertex 0.8 0.2 0.2 vertex 0.2 0.2 0.8 vertex 0.2 0.8 0.2 endloop endfacet
endsolid a
STL
cat >s.lua <<'LUA'
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {1, 1, 1} }, viscosity = 0.1, speed = 1,
  bodies = { sim.stl { path = "body.stl", scale = 5 } }, integrate = { t_end = 1 } }
LUA
exec "$SIM" check s.lua
