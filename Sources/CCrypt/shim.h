#ifndef STARWATCH_CCRYPT_SHIM_H
#define STARWATCH_CCRYPT_SHIM_H

#include <crypt.h>

#endif
