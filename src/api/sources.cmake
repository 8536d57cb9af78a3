set(SOURCES admission.cpp authorization.cpp backup_routes.cpp block_decoder.cpp blocks.cpp claim_decoder.cpp conditional_reply.cpp empty_body.cpp event_body.cpp event_documents.cpp event_map.cpp event_maps.cpp event_pages.cpp
  event_sections.cpp event_snapshots.cpp event_steps.cpp events.cpp events_create.cpp events_read.cpp events_stream.cpp
  exchanges.cpp
  hold_access.cpp
  hold_document.cpp
  holds.cpp
  html_text.cpp
  in_flight.cpp
  json_decoder.cpp
  json_reader.cpp
  json_span.cpp
  json_value.cpp
  json_writer.cpp
  kept_refusals.cpp
  keyed.cpp
  metrics.cpp
  ops.cpp
  order_changes.cpp
  order_decoder.cpp
  order_lists.cpp
  order_pictures.cpp
  order_reads.cpp
  orders.cpp
  overload.cpp
  paging.cpp
  plain_claim.cpp
  problems.cpp
  process_metrics.cpp
  query_names.cpp
  rate_limits.cpp
  read_point.cpp
  reference.cpp
  reference_calls.cpp
  reference_document.cpp
  reference_page.cpp
  refused_seats.cpp
  routes.cpp
  schema_tables.cpp
  seat_delta.cpp
  seat_feed.cpp
  seat_streams.cpp
  times.cpp
  timestamp.cpp)
set(TEXTS openapi.json reference.css)
set(LINKS Boost::json date::date-tz)
