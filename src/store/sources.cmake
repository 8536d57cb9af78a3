set(SOURCES)
set(LINKS SQLite::SQLite3)
