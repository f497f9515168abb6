-- expect: 65 option_rho_bucket_flat.lua:6: greeks.rho_bucket: expected rate = sim.curve { {t, value}, ... }, or a file of its points: the rate has no nodes
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = 0.03,
  maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  greeks = { rho_bucket = true },
}
