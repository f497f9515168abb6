#!/usr/bin/env bash
# expect: 64 grains merge on one rank only
cat >case.lua <<'EOF'
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, position = {3, 5, 5} }, { radius = 0.5, position = {7, 5, 5} } },
  merge     = { when = "touch" },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
EOF
"$SIM" run case.lua --ranks 2 --device cpu
