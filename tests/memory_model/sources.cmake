set(SOURCES assertion.cpp change_suites.cpp claim_suites.cpp main.cpp weak_order.cpp)
