set(SOURCES message.cpp problem.cpp router.cpp)
