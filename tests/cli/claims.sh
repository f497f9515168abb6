#!/usr/bin/env bash
# Statements about particles in the headers of scenarios hold for their runs. On the CPU: the digits are the same
# everywhere.
. "${BASH_SOURCE[0]%/*}/lib.sh"
cp -r -- "${ROOT:?the source tree}/scenarios" "$ROOT/data" .

# last COLUMN SCENARIO OPTIONS...: a column of the last rows of the tables.
last() {
  local column=$1 name=$2
  shift 2
  rm -rf "$name.sweep"
  expect 0 "1 done" "$SIM" sweep "scenarios/$name.lua" --seed 1 --threads 1 --device cpu -o "$name.sweep" "$@"
  awk -F, -v column="$column" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
    NR == 2 { print at ? $at : "none" }' "$name.sweep/sweep.csv"
}
# within WHAT VALUE LOW HIGH
within() {
  awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(x + 0 == x && x >= low && x <= high) }' ||
    fail "$1: $2 is not in $3 to $4"
}

# The true motion, by Taylor series of order 40 in 113 bits (two tolerances agree in ten digits): at t = 70 body 3 is at
# {6.93346, 20.26180} from the centre of mass, 21.9211 from the scenario's origin. Runs of eta 1e-8 to 1e-11 with
# origins within 0.001 of this one end within 2.4e-4 of it.
within "pythagorean: body 3 at t = 70" "$(last observe.farthest pythagorean)" 21.9201 21.9221

# The perihelion advances by 6 pi mu / (c^2 a (1 - e^2)) a turn: 5.75095e-4 degrees in 20 turns. Rows are one turn of
# Newton apart, 1e-7 of a turn away from the relativistic turn. At the last row the ellipse has changed by 2e-6 of at
# least 1e-4 degrees: 1e-8, which is 42.980 +- 0.001 arc seconds a century. Jupiter's eccentricity is between 0.025 and
# 0.061 for millions of years (J. Laskar, A&A 198 (1988) 341, figure 8).
within "mercury: advance of the perihelion in 20 turns" "$(last orbits.peri_mercury mercury --set orbits=20)" \
  29.000575085 29.000575105
within "outer_planets: energy error" "$(last energy.error outer_planets --set years=20000)" -2e-6 2e-6
within "outer_planets: eccentricity of Jupiter" "$(last orbits.e_jupiter outer_planets --set years=20000)" 0.025 0.061

# Plummer's sphere: total energy -1/4 to sampling noise, below 1/sqrt(n) of it. Half of the mass is within 1.305 radii,
# for 512 bodies to 0.1 (five times the noise of a median, 0.7 of its density's inverse over sqrt(n)).
within "plummer: total energy" "$(last energy.total plummer --set n=512)" -0.261 -0.239
within "plummer: half of the mass" "$(last lagrangian.r50 plummer --set n=512)" 0.669 0.869
# Most of the asteroids stay on Jupiter's orbit.
within "restricted_three_body: asteroids on the path" "$(last observe.coorbital restricted_three_body --set n=200 --set years=20)" 0.5 1
