# Checks the size of a stripped program: cmake -D PROGRAM= -D STRIP= -D LIMIT=<bytes> -P size.cmake
execute_process(COMMAND ${STRIP} -o ${PROGRAM}.stripped ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${PROGRAM}.stripped size)
message(STATUS "${PROGRAM} has ${size} bytes stripped")
if(size GREATER LIMIT)
    message(FATAL_ERROR "More than ${LIMIT}: find what came in with the linker's option -Map")
endif()
