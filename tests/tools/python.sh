# Sourced: finds or makes a Python that can import the named modules. BUILD is the build folder: it keeps one Python for
# all tests, the one of `viz/plot.sh`.
# shellcheck shell=bash

# Modules are compiled when first imported, and not all of them when installed, which takes longer than to unpack them.
# Nothing compiled is left in the source tree. (A 0 is how pip's option --no-compile is set in the environment.)
export PIP_NO_COMPILE=0 PYTHONPYCACHEPREFIX=${BUILD:?}/pycache

# python_with MODULES PACKAGE...: prints its path; fails where there is none.
python_with() {
  local modules=$1 venv=${BUILD:?}/simview
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
