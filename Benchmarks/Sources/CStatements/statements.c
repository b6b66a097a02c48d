#define _GNU_SOURCE
#include "include/statements.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A record is a 32-bit length and the text; this length stands for the mark.
static const uint32_t MARK = UINT32_MAX;

static FILE *file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int on_statement(unsigned kind, void *context, void *statement, void *text) {
    (void)kind;
    (void)context;
    // A comment alone stands for what a trigger does; the statement that fired it does that again.
    if (strncmp(text, "--", 2) == 0 && !strchr(text, '\n')) return 0;
    char *sql = sqlite3_expanded_sql(statement);
    if (!sql) return 0;
    uint32_t length = (uint32_t)strlen(sql);
    pthread_mutex_lock(&lock);
    if (file) {
        fwrite(&length, sizeof length, 1, file);
        fwrite(sql, 1, length, file);
    }
    pthread_mutex_unlock(&lock);
    sqlite3_free(sql);
    return 0;
}

static int on_open(sqlite3 *db, const char **error, const struct sqlite3_api_routines *api) {
    (void)error;
    (void)api;
    sqlite3_trace_v2(db, SQLITE_TRACE_STMT, on_statement, NULL);
    return SQLITE_OK;
}

int statements_record(const char *path) {
    file = fopen(path, "wb");
    if (!file) return -1;
    sqlite3_auto_extension((void (*)(void))on_open);
    return 0;
}

void statements_mark(void) {
    pthread_mutex_lock(&lock);
    if (file) fwrite(&MARK, sizeof MARK, 1, file);
    pthread_mutex_unlock(&lock);
}

void statements_stop(void) {
    sqlite3_cancel_auto_extension((void (*)(void))on_open);
    pthread_mutex_lock(&lock);
    if (file) fclose(file);
    file = NULL;
    pthread_mutex_unlock(&lock);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

statements_replayed statements_replay(const char *path, const char *database) {
    statements_replayed result = {0, 0, 0};
    sqlite3 *db = NULL;
    FILE *input = fopen(path, "rb");
    if (!input || sqlite3_open(database, &db) != SQLITE_OK) {
        result.failed = 1;
        if (input) fclose(input);
        sqlite3_close(db);
        return result;
    }
    char *sql = NULL;
    uint32_t length, room = 0;
    int is_timed = 0;
    while (fread(&length, sizeof length, 1, input) == 1) {
        if (length == MARK) {
            is_timed = 1;
            continue;
        }
        if (length + 1 > room) sql = realloc(sql, room = length + 1);
        if (fread(sql, 1, length, input) != length) break;
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db, sql, (int)length, &statement, NULL) != SQLITE_OK) {
            result.failed += 1;
            fprintf(stderr, "%s: %.200s\n", sqlite3_errmsg(db), sql);
            continue;
        }
        double start = seconds();
        int code;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {}
        sqlite3_reset(statement);
        double end = seconds();
        if (code != SQLITE_DONE) {
            result.failed += 1;
            fprintf(stderr, "%s: %.200s\n", sqlite3_errmsg(db), sql);
        }
        if (is_timed) {
            result.count += 1;
            result.seconds += end - start;
        }
        sqlite3_finalize(statement);
    }
    free(sql);
    fclose(input);
    sqlite3_close(db);
    return result;
}
