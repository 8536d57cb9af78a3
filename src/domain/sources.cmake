set(SOURCES event.cpp layout.cpp layout_builder.cpp layout_codec.cpp refusal.cpp)
