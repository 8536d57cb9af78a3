#!/usr/bin/env bash
# The bugs of tests/planted/front_door: what stands between a client and a handler, and who may ask.
#   tests/planted/front_door.sh [NAME...]   e.g. folded_lines_pass; without names: all
exec "$(dirname "${BASH_SOURCE[0]}")/linked.sh" front_door "$@"
