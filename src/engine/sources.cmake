set(SOURCES)
set(LINKS OpenSSL::Crypto)
