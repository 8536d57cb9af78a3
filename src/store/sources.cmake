include(embed_sql)
holdfast_embed_sql(holdfast_store_sql
  001_create_catalogue.sql
  002_create_projection.sql
  003_add_orphan_endgame.sql
  004_refund_and_reseat_tickets.sql
  005_add_account_limits.sql)
set(SOURCES
  catalogue.cpp
  database.cpp
  migrations.cpp
  projection.cpp
  projection_tickets.cpp
  reader.cpp
  snapshot.cpp
  statement.cpp
  store.cpp)
set(LINKS SQLite::SQLite3 holdfast_store_sql)
