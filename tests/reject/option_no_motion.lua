-- expect: 65 option_no_motion.lua:3: assets[1]: expected one of vol, heston, rough_bergomi, sabr, local_vol and vol_grid, got none
return sim.option {
  assets = { { spot = 100 } },
  maturity = 1, payoffs = { sim.european { strike = 100 } },
}
