#!/usr/bin/env bash
# expect: 65 s.lua: the file is larger than 16 MiB
truncate -s 1G s.lua
exec "$SIM" s.lua
