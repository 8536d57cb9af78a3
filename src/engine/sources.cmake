set(SOURCES
  account_gate.cpp
  base32.cpp
  blocks.cpp
  claim.cpp
  edit_facts.cpp
  engine.cpp
  event_facts.cpp
  exchange.cpp
  facts.cpp
  holds.cpp
  order_changes.cpp
  orders.cpp
  orphan_alternatives.cpp orphans.cpp
  projection.cpp
  projection_edits.cpp
  projector.cpp
  replay.cpp
  replay_edits.cpp
  replay_state.cpp
  reseat.cpp
  sale.cpp
  server_key.cpp
  server_key_file.cpp
  sold_holds.cpp)
set(LINKS OpenSSL::Crypto)
