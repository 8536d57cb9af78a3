set(SOURCES facts.cpp replay.cpp replay_state.cpp)
set(LINKS OpenSSL::Crypto)
