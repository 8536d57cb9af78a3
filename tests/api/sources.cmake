set(SOURCES ../engine/failing_memory.cpp ../http/live.cpp account_limits_test.cpp admission_test.cpp answer_check.cpp backup_routes_test.cpp big_blocks_test.cpp blocks_test.cpp changed_orders_test.cpp claim_decoder_test.cpp conditional_reply_test.cpp event_body_test.cpp event_map_test.cpp event_maps_test.cpp event_sections_test.cpp event_snapshots_test.cpp event_steps_test.cpp events_create_test.cpp
  events_read_test.cpp example_scene.cpp exchanges_test.cpp helpful_errors_test.cpp hold_verbs_test.cpp holds_test.cpp json_decoder_test.cpp json_raw_test.cpp
  json_reader_test.cpp
  keyed_test.cpp
  late_answers_test.cpp
  ops_test.cpp
  order_changes_test.cpp
  order_decoder_test.cpp
  order_ids_test.cpp
  order_reads_test.cpp
  orders_test.cpp
  overload_test.cpp
  plain_claim_test.cpp
  problems_test.cpp
  query_names_test.cpp
  rate_limits_test.cpp
  read_point_test.cpp
  reference_answers_test.cpp
  reference_bodies_test.cpp
  reference_codes_test.cpp
  reference_limits_test.cpp reference_page_test.cpp reference_test.cpp reported_bugs_test.cpp reported_limits_test.cpp schema_check.cpp schema_check_test.cpp seat_streams_model_test.cpp seat_streams_test.cpp stage.cpp stream_route_test.cpp times_test.cpp unknown_fields_test.cpp building_without_memory_test.cpp)
