// The system's SQLite, with functions for the parts that Swift cannot call (variadic functions, constants that are
// casts).
#ifndef TILECACHE_CTILESQLITE_SHIM_H
#define TILECACHE_CTILESQLITE_SHIM_H
#include <sqlite3.h>

// Settings for an untrusted database: an untrusted schema, no virtual tables, a maximum size of values.
static inline void tile_sqlite_harden(sqlite3 *database, int largest_value) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, largest_value);
    sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_drop_modules(database, (const char **)0);
    // Temporary tables are memory, which is measured; a build that does not measure it keeps them in files.
    if (sqlite3_memory_used() > 0) sqlite3_exec(database, "PRAGMA temp_store = MEMORY", 0, (void *)0, (char **)0);
}
#endif
