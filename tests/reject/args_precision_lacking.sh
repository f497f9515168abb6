#!/usr/bin/env bash
# expect: 64 --precision: expected "single" or "double", got "mixed": sim.collision has no mixed precision
"$SIM" new collision >gas.lua
exec "$SIM" check gas.lua --precision mixed
