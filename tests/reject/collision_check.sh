# expect: 65 case.lua:3: box.size: 2 in x is periodic and less than 5 times the largest radius, 0.5
# What needs no grains is found by `sim check`, before any are made; drawn radii are refused where no draw can do.
scenario() { # box grains dt [contact]
  printf 'return sim.collision {\n  title = "checked",\n  box = { size = %s },\n  grains = { %s },\n' "$1" "$2"
  printf '  contact = { %s },\n' "${4:-stiffness = 1e4, restitution = 0.5}"
  printf '  integrate = { dt = %s, t_end = 1 } }\n' "$3"
}
finds() { # text box grains dt [contact]
  local text=$1
  shift
  scenario "$@" >case.lua
  local said code=0
  said=$("$SIM" check case.lua 2>&1 >/dev/null) || code=$?
  [ "$code" = 65 ] && [[ $said == *"$text"* ]] && return
  echo "exit code $code where '$text' was expected: $said" >&2
  exit 1
}
ten="{10, 10, 10}"
# Mass pi/6, m* = half of it: a tenth of pi sqrt(m*/k) = 1.607e-3.
finds "integrate.dt: expected at most 0.0016" "$ten" "{ radius = 0.5, position = {5, 5, 5} }" 1e-2
finds "case.lua:4: grains: expected radii within 1:200" "$ten" "sim.random_spheres { n = 10, radius = 0.001 }, { radius = 0.5, position = {5, 5, 5} }" '"auto"'
finds "case.lua:4: grains[1]: 2000 grains of radius 0.5 do not fit" "$ten" "sim.lattice { n = 2000, radius = 0.5 }" '"auto"'
finds "case.lua:4: grains[1]: the grains fill 1.05" "$ten" "sim.random_spheres { n = 2000, radii = {0.5, 0.5, 0.5} }" '"auto"'
finds "case.lua:4: grains[1]: the grains fill 1.05" "$ten" "sim.random_spheres { n = 2000, radii = {0.5, 0.6} }" '"auto"'
one="{ radius = 0.5, position = {5, 5, 5} }"
well='cohesion = { model = "square_well", energy = 1, range ='
finds "contact.cohesion.range: expected a bond that reaches at most the smallest radius, 0.5" "$ten" "$one" '"auto"' "stiffness = 1e4, $well 0.6 }"
finds "contact.cohesion.surface_energy: expected a bond" "$ten" "$one" '"auto"' 'law = "hertz", young = 1e4, cohesion = { model = "jkr", surface_energy = 3e3 }'
finds "contact.restitution_law: expected a coefficient above 0 and at most 1, got 2" "$ten" "$one" '"auto"' "stiffness = 1e4, restitution_law = function(speed) return 2 - speed end"
scenario "$ten" "sim.random_spheres { n = 20, radii = {0.3, 0.6} }" '"auto"' "stiffness = 1e4, $well 0.29 }" >case.lua
"$SIM" check case.lua >/dev/null || exit 1
for grains in "sim.random_spheres { n = 500, radii = {0.4, 0.6} }" "sim.lattice { n = 1000, radii = {0.5, 0.4, 0.3} }"; do
  scenario "$ten" "$grains" 5e-4 >case.lua
  "$SIM" check case.lua >/dev/null || exit 1
done
scenario "{2, 2, 2}" "{ radius = 0.5, position = {1, 1, 1} }" '"auto"' >case.lua
"$SIM" check case.lua
