// The standard library includes this header, and needs nothing of it here.
#pragma once
#include <vcruntime.h>
