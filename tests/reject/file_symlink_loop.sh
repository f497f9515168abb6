#!/usr/bin/env bash
# expect: 66 s.lua
ln -s s.lua s.lua
exec "$SIM" s.lua
