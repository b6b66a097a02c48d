#ifndef STARWATCH_CEMBEDDED_H
#define STARWATCH_CEMBEDDED_H

#include <stddef.h>

/// A file that is part of the program.
typedef struct {
    const unsigned char *bytes;
    size_t count;
} starwatch_file;

/// The sources of the control API's verbs and types, one after the other.
starwatch_file starwatch_sources(void);

/// The runbooks of all alerts by name, each followed by a NUL.
starwatch_file starwatch_runbooks(void);

/// The style of all pages.
starwatch_file starwatch_style(void);

/// The script of all pages.
starwatch_file starwatch_script(void);

/// The script of the pages that change by themselves, which follows the other one.
starwatch_file starwatch_live_script(void);

#endif
