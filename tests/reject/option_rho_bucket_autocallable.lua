-- expect: 65 option_rho_bucket_autocallable.lua:5: payoffs[1]: greeks.rho_bucket: an autocallable has none: expected rho, or runs with other values of the node
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = sim.curve { {0, 0.02}, {1, 0.03} },
  maturity = 1, steps = 4,
  payoffs = { sim.autocallable { level = 100, coupon = 0.05, protection = 80 } },
  greeks = { rho_bucket = true },
}
