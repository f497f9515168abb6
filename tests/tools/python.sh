# Sourced: finds or makes a Python that can import what is named. BUILD is the build folder, where it is kept.
# shellcheck shell=bash

# python_with MODULES PACKAGE...: prints its path; fails where there is none.
python_with() {
  local modules=$1 venv=${BUILD:?}/python
  shift
  local candidate
  for candidate in python3 "$venv/bin/python3"; do
    if "$candidate" -c "import $modules" 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  {
    [ -x "$venv/bin/pip" ] || python3 -m venv "$venv"
    timeout 300 "$venv/bin/pip" install --disable-pip-version-check --retries 1 --timeout 10 "$@"
  } >"$BUILD/python.log" 2>&1 </dev/null || return 1
  "$venv/bin/python3" -c "import $modules" && echo "$venv/bin/python3"
}
