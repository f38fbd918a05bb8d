#pragma once
#include <vcruntime.h>
#include_next <stdio.h>
#include <wchar.h>

extern "C" int _get_stream_buffer_pointers(FILE*, char***, char***, int**);
