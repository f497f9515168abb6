-- expect: 65 option_calendar_no_list.lua:2: sim.calendar: holidays: expected a list of dates, got a string
local c = sim.calendar { today = "2026-03-02", holidays = "target.txt" }
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
