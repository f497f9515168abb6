"""Steps of the scenarios of this folder, by `sim`."""
import os
import re
import subprocess


def sim(program, command, name, *words):
    """What `sim COMMAND bench/NAME.lua WORDS` prints."""
    scenario = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".lua")
    return subprocess.run([program, command, scenario, *words], check=True, capture_output=True, text=True).stdout


def rate(text):
    """Units of work a second, of what `sim bench` printed."""
    return float(re.search(r": (\S+) [^,]*?/s \(", text)[1])
