#pragma once
#include <stdint.h>

// Writes every SQL statement that any SQLite connection of this process starts from now on to `path`, its values in place.
// Returns 0, or -1 where the file cannot be made.
int statements_record(const char *path);

// What is recorded from here on is what statements_replay times.
void statements_mark(void);

// Ends the recording.
void statements_stop(void);

typedef struct {
    // Statements after the mark.
    int64_t count;
    // Seconds within sqlite3_step and sqlite3_reset, from the mark on.
    double seconds;
    // Statements SQLite refused.
    int64_t failed;
} statements_replayed;

// Executes what was recorded at `path` on an empty database at `database`, through SQLite alone. Preparing is not timed.
statements_replayed statements_replay(const char *path, const char *database);
