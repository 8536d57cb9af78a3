set(SOURCES
  claim.cpp
  engine.cpp
  event_facts.cpp
  facts.cpp
  holds.cpp
  orders.cpp
  replay.cpp
  replay_state.cpp
  sale.cpp)
set(LINKS OpenSSL::Crypto)
