/* Checks of the C interface, written in C. The tests run them, and Scripts/check-c under valgrind and
 * AddressSanitizer. Each returns NULL, or a description of the failure. */
#ifndef C_INTERFACE_CHECKS_H
#define C_INTERFACE_CHECKS_H

typedef const char *(*c_check)(void);

typedef struct c_check_entry {
    const char *name;
    c_check run;
} c_check_entry;

int c_check_count(void);
c_check_entry c_check_at(int index);

const char *check_structures(void);
const char *check_null_arguments(void);
const char *check_configuration(void);
const char *check_layers(void);
const char *check_pyramids(void);
const char *check_geometry(void);
const char *check_parts(void);
const char *check_frames(void);
const char *check_textures(void);
const char *check_outcomes(void);
const char *check_upkeep(void);
const char *check_removal(void);
const char *check_needed_tiles(void);
const char *check_fetches(void);
const char *check_requests(void);
const char *check_releases(void);
const char *check_cancellation(void);
const char *check_late_answers(void);
const char *check_encoded(void);
const char *check_shares(void);
const char *check_synthesis(void);
const char *check_pressure(void);
const char *check_watchdog(void);
const char *check_recorder(void);
const char *check_endings(void);
const char *check_threads(void);
const char *check_profiles(void);
const char *check_store_options(void);
const char *check_source_layers(void);
const char *check_source_addresses(void);
const char *check_openings(void);
const char *check_store_addresses(void);
const char *check_stores(void);
const char *check_closed_stores(void);
const char *check_freshness(void);

#endif
