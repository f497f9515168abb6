#!/usr/bin/env bash
# Slices beside full snapshots: named by their keys, counted in advance, and the same after a restart.
. "${BASH_SOURCE[0]%/*}/lib.sh"
cat >s.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {12, 8, 6}, size = {1.2, 0.8, 1.2} },
  fields    = { { name = "u", D = 0.01, initial = function(x, y, z) return x + 2*y - z^2 end } },
  rates     = function(u) return u - u^3 end,
  integrate = { scheme = "etdrk2", dt = 0.125, t_end = 2 },
  output    = {
    snapshots = "every 1", checkpoint = "every 6 steps", tables = "never",
    slices = { { name = "middle", z = 0.6, when = "every 0.5" }, { name = "coarse", stride = 4, when = "every 3 steps" },
               { name = "silent", x = 0, when = "never" } },
  },
}
LUA
names() { (cd "$1" && find slices snap -name '*.h5' | sort); }
values() { # of all slices of a run, as text
  local file
  for file in "$1"/slices/*/*.h5; do
    echo "${file#"$1"}"
    h5dump -g /data "$file" | tail -n +2 || fail "h5dump: $file"
  done
}

expect 0 "middle: 5 of" "$SIM" check s.lua
expect 0 "coarse: 6 of" "$SIM" check s.lua
expect 0 "stride" "$SIM" describe diffusion
expect 0 "" "$SIM" s.lua -o whole
[ "$(find whole/slices/middle -name '*.h5' | wc -l)" = 5 ] || fail "not five files of 'middle': t = 0, 0.5, 1, 1.5, 2"
[ "$(find whole/slices/coarse -name '*.h5' | wc -l)" = 7 ] || fail "not seven files of 'coarse': steps 0, 3, ..., 15 and the last"
[ "$(find whole/snap -type f | wc -l)" = 3 ] || fail "not three snapshots"
[ ! -e whole/slices/silent ] || fail "a folder for what is never written"

# From the checkpoint of step 12: the same files with the same values, and no others.
cp -r whole again
rm -- again/ckpt/ck_000000000016.h5 again/slices/middle/snap_00000016.h5 again/slices/coarse/snap_00000015.h5
expect 0 "" "$SIM" resume again
same whole again "a restart with slices"
[ "$(names whole)" = "$(names again)" ] || fail "other files after a restart"
if command -v h5dump >/dev/null; then
  values whole >whole.txt
  values again >again.txt
  cmp whole.txt again.txt || fail "other values after a restart"
fi

# Slices change nothing, and may differ in a resumed run.
sed 's/slices = .*/slices = { { name = "new", y = 0, when = "every 1 steps" } },/; /silent/d' s.lua >other.lua
expect 0 "" "$SIM" other.lua -o other
same whole other "other slices"
rm -- again/ckpt/ck_000000000016.h5
expect 0 "" "$SIM" run other.lua -o again --resume
[ "$(find again/slices/new -name '*.h5' | wc -l)" = 4 ] || fail "not four files of 'new': steps 13 to 16"
expect 0 "" "$SIM" other.lua -o whole --force
[ "$(ls whole/slices)" = new ] || fail "--force leaves slices of the run before"
