set(SOURCES base32.cpp facts.cpp replay.cpp replay_state.cpp server_key.cpp server_key_file.cpp)
set(LINKS OpenSSL::Crypto)
