#!/usr/bin/env bash
# expect: 77 s.lua
echo 'return 1' >s.lua
chmod 000 s.lua
if [ "$(id -u)" = 0 ]; then # root reads all
  command -v setpriv >/dev/null || exit 125
  chmod 755 .. .
  as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  "${as_nobody[@]}" "$SIM" --version >/dev/null || exit 125
  exec "${as_nobody[@]}" "$SIM" s.lua
fi
exec "$SIM" s.lua
