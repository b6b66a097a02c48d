#pragma once
#include <stdint.h>

// How many blocks this process has allocated so far.
uint64_t allocation_count(void);
