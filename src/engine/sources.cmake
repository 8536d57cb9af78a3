set(SOURCES
  base32.cpp
  blocks.cpp
  claim.cpp
  engine.cpp
  event_facts.cpp
  facts.cpp
  holds.cpp
  orders.cpp
  orphans.cpp
  projection.cpp
  projector.cpp
  replay.cpp
  replay_state.cpp
  sale.cpp
  server_key.cpp
  server_key_file.cpp)
set(LINKS OpenSSL::Crypto)
