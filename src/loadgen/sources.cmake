set(SOURCES bench_sale.cpp buyer.cpp checks.cpp child_server.cpp client.cpp fetch.cpp host.cpp picture.cpp report.cpp
            response_reader.cpp sale.cpp sale_checks.cpp seat_states.cpp url.cpp watcher.cpp wire.cpp
            wire_requests.cpp)
set(LINKS Boost::json)
