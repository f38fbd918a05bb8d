#pragma once
#include_next <stdio.h>
#include <vcruntime.h>
#include <wchar.h>

extern "C" int _get_stream_buffer_pointers(FILE*, char***, char***, int**);
