#!/usr/bin/env bash
# The bugs of tests/planted/durability: what the journal, the store and the answers promise.
#   tests/planted/durability.sh [NAME...]   e.g. ack_before_sync; without names: all
exec "$(dirname "${BASH_SOURCE[0]}")/linked.sh" durability "$@"
