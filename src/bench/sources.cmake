set(SOURCES baselines.cpp bench_engine.cpp engine_cases.cpp figures.cpp measured_sale.cpp memory.cpp)
