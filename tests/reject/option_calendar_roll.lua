-- expect: 65 option_calendar_roll.lua:2: sim.calendar: roll: expected following, modified_following, preceding or none
local c = sim.calendar { today = "2026-03-02", roll = "next" }
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
