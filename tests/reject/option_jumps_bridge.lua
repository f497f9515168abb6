-- expect: 65 option_jumps_bridge.lua:4: payoffs[1]: expected monitoring = "steps"
return sim.option {
  assets = { { spot = 100, vol = 0.2, jumps = { rate = 1, deviation = 0.1 } } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 80, monitoring = "continuous" } },
}
