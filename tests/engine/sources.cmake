set(SOURCES claim_test.cpp holds_test.cpp orders_test.cpp replay_model_test.cpp facts_test.cpp replay_test.cpp server_key_test.cpp)
