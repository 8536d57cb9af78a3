#!/usr/bin/env bash
# The bugs of tests/planted/front_door: what stands between a client and a handler, and who may ask.
# Those that end the server, or acknowledge what may be lost (an exception past its session, no more
# accepting, streams told too early, another body under a key), are in tests/planted/durability.
#   tests/planted/front_door.sh [NAME...]   e.g. folded_lines_pass; without names: all
exec "$(dirname "${BASH_SOURCE[0]}")/linked.sh" front_door "$@"
