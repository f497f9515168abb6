-- expect: 65 output.snapshots: a price has no snapshots
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } }, output = { snapshots = "every 1 steps" },
}
