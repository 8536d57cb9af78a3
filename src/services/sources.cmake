set(SOURCES demo_plan.cpp event_setup.cpp lint.cpp plan_draft.cpp plan_fields.cpp plan_import.cpp plan_json.cpp
            plan_pretix.cpp plan_seatsio.cpp plan_seatsio_index.cpp)
set(TEXTS demo_plan.json)
set(LINKS Boost::json)
