set(SOURCES)
set(LINKS Boost::json)
