/*
 * Fields one after the other; tables write and read their own part.
 */
#include "replay/shard/replay_snapshot.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

enum {
    VERSION = 1,
    CHUNKS_PER_STEP = 2048,
    HEADER_BYTES = 16,
    /* What most tables take for an item and for a chunk; more only costs a copy. */
    ITEM_BYTES_GUESS = 8,
    CHUNK_BYTES_GUESS = 32,
};

#define SNAPSHOT_BYTES_MAX ((size_t)UINT32_MAX) /* which is what a record may be */

static const char magic[4] = {'A', 'Q', 'S', 'N'};

#define NAME_OF(section, member) #member,
static const char *const setting_names[AQ_SAVED_SETTINGS] = {AQ_TABLE_SPEC_NUMBERS(NAME_OF)};

static void settings_of(const aq_table_spec *spec, double settings[AQ_SAVED_SETTINGS])
{
#define VALUE_OF(section, member) (double)spec->member,
    const double values[AQ_SAVED_SETTINGS] = {AQ_TABLE_SPEC_NUMBERS(VALUE_OF)};
    memcpy(settings, values, sizeof(values));
}

/* ---- writing ------------------------------------------------------------------------------- */

static int put_u64(aq_buffer *out, uint64_t value)
{
    uint8_t bytes[8];
    aq_u64_put(bytes, value);
    return aq_buffer_append(out, bytes, sizeof(bytes));
}

static int put_double(aq_buffer *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return put_u64(out, bits);
}

void aq_replay_saver_init(aq_replay_saver *saver, int64_t now_ns, int64_t interval_ns)
{
    AQ_ASSERT(interval_ns > 0);
    *saver = (aq_replay_saver){.interval_ns = interval_ns, .due_ns = now_ns + interval_ns};
    aq_buffer_init(&saver->out, SNAPSHOT_BYTES_MAX);
}

void aq_replay_saver_fini(aq_replay_saver *saver)
{
    aq_buffer_fini(&saver->out);
    saver->saving = false;
}

uint64_t aq_replay_saver_ask(aq_replay_saver *saver)
{
    saver->due_ns = INT64_MIN;
    return saver->taken + (saver->saving ? 2 : 1);
}

/* All the memory at once and untouched, as a buffer that grows by copying would stop the loop. */
static int begin(aq_replay_saver *saver, const aq_replay_tables *tables)
{
    size_t guess = 4096;
    for (size_t i = 0; i < tables->count; i++) {
        aq_replay_holdings holdings = aq_replay_table_holdings(tables->shelves[i].table);
        guess += holdings.items * ITEM_BYTES_GUESS + holdings.chunks * CHUNK_BYTES_GUESS + 512;
    }
    guess = guess < SNAPSHOT_BYTES_MAX ? guess : SNAPSHOT_BYTES_MAX;
    saver->out.data = aq_alloc_unset(1, guess);
    if (saver->out.data == NULL) {
        return AQ_E_NOMEM;
    }
    saver->out.capacity = guess;
    saver->out.size = 0;
    int rc = aq_buffer_append(&saver->out, magic, sizeof(magic));
    uint8_t fixed[HEADER_BYTES - sizeof(magic)] = {VERSION, 0, 0, 0, (uint8_t)tables->count};
    if (rc == 0) {
        rc = aq_buffer_append(&saver->out, fixed, sizeof(fixed));
    }
    saver->saving = true;
    saver->table = 0;
    saver->position = 0;
    return rc;
}

static int put_table_head(aq_replay_saver *saver, const aq_replay_shelf *shelf)
{
    const aq_table_spec *spec = aq_replay_table_spec(shelf->table);
    const uint64_t counts[5] = {shelf->limiter.inserted, aq_replay_shelf_owed(shelf),
                                shelf->sampled, shelf->prioritized, shelf->stale};
    double settings[AQ_SAVED_SETTINGS];
    settings_of(spec, settings);
    int rc = aq_buffer_append(&saver->out, spec->name, sizeof(spec->name));
    for (size_t i = 0; i < 5 && rc == 0; i++) {
        rc = put_u64(&saver->out, counts[i]);
    }
    for (size_t i = 0; i < AQ_SAVED_SETTINGS && rc == 0; i++) {
        rc = put_double(&saver->out, settings[i]);
    }
    saver->size_at = saver->out.size;
    return rc == 0 ? put_u64(&saver->out, 0) : rc;
}

static int put_portion(aq_replay_saver *saver, const aq_replay_tables *tables)
{
    const aq_replay_shelf *shelf = &tables->shelves[saver->table];
    int rc = saver->position == 0 ? put_table_head(saver, shelf) : 0;
    if (rc == 0) {
        rc = aq_replay_table_save(shelf->table, &saver->position, CHUNKS_PER_STEP, &saver->out);
    }
    if (rc == 0 && saver->position == UINT64_MAX) {
        aq_u64_put(saver->out.data + saver->size_at, saver->out.size - saver->size_at - 8);
        saver->table++;
        saver->position = 0;
    }
    return rc;
}

typedef struct snapshot_lease {
    aq_lease lease;
    uint8_t *bytes;
} snapshot_lease;

static void free_snapshot(aq_lease *lease)
{
    snapshot_lease *snapshot = (snapshot_lease *)lease;
    aq_free(snapshot->bytes);
    aq_free(snapshot);
}

static int finish(aq_replay_saver *saver, aq_replay_log *log)
{
    snapshot_lease *snapshot = aq_alloc(1, sizeof(*snapshot));
    if (snapshot == NULL) {
        return AQ_E_NOMEM;
    }
    snapshot->bytes = saver->out.data;
    aq_lease_init(&snapshot->lease, saver->out.data, saver->out.size, free_snapshot);
    saver->saving = false;
    aq_buffer_init(&saver->out, SNAPSHOT_BYTES_MAX); /* the bytes are the lease's now */
    int rc = log->class->snapshot(log, &snapshot->lease);
    aq_lease_unref(&snapshot->lease);
    saver->taken += rc == 0;
    return rc;
}

static void give_up(aq_replay_saver *saver)
{
    aq_buffer_fini(&saver->out);
    aq_buffer_init(&saver->out, SNAPSHOT_BYTES_MAX);
    saver->saving = false;
}

/* Once a snapshot is with the log, or isn't to be: what came of it. */
static void end(aq_replay_saver *saver, int rc)
{
    saver->failure = (aq_error){0};
    if (rc != 0) {
        (void)aq_fail(&saver->failure, rc, "a snapshot can't be made: %s", aq_error_text(rc));
        give_up(saver);
    }
}

void aq_replay_saver_step(aq_replay_saver *saver, int64_t now_ns, const aq_replay_tables *tables,
                          aq_replay_log *log)
{
    int rc = 0;
    if (!saver->saving) {
        if (now_ns < saver->due_ns) {
            return;
        }
        saver->due_ns = now_ns + saver->interval_ns;
        rc = begin(saver, tables);
    } else if (saver->table < tables->count) {
        rc = put_portion(saver, tables);
    } else {
        end(saver, finish(saver, log));
    }
    if (rc != 0) {
        end(saver, rc);
    }
}

void aq_replay_saver_flush(aq_replay_saver *saver, const aq_replay_tables *tables,
                           aq_replay_log *log)
{
    give_up(saver);
    int rc = begin(saver, tables);
    while (rc == 0 && saver->table < tables->count) {
        rc = put_portion(saver, tables);
    }
    end(saver, rc == 0 ? finish(saver, log) : rc);
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct reader {
    const uint8_t *at;
    size_t left;
} reader;

static const uint8_t *take(reader *in, size_t size)
{
    const uint8_t *at = in->at;
    if (in->left < size) {
        return NULL;
    }
    in->at += size;
    in->left -= size;
    return at;
}

static double load_double(const uint8_t *from)
{
    uint64_t bits = aq_u64_get(from);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int read_table(reader *in, aq_replay_tables *tables, aq_saved_table *saved, aq_error *error)
{
    enum { COUNTS = 5, FIXED_BYTES = AQ_TABLE_NAME_MAX + 8 * (COUNTS + AQ_SAVED_SETTINGS + 1) };
    const uint8_t *fixed = take(in, FIXED_BYTES);
    char name[AQ_TABLE_NAME_MAX];
    if (fixed == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "a snapshot that ends within a table's head");
    }
    memcpy(name, fixed, sizeof(name));
    uint64_t size = aq_u64_get(fixed + FIXED_BYTES - 8);
    const uint8_t *bytes = size <= in->left ? take(in, (size_t)size) : NULL;
    if (name[0] == '\0' || memchr(name, '\0', sizeof(name)) == NULL || bytes == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "a snapshot with a table of %" PRIu64 " bytes", size);
    }
    aq_replay_shelf *shelf = aq_replay_tables_find(tables, name);
    if (shelf == NULL) {
        return 0;
    }
    const uint8_t *counts = fixed + AQ_TABLE_NAME_MAX;
    aq_saved_table *to = &saved[shelf - tables->shelves];
    *to = (aq_saved_table){
        .known = true,
        .inserted = aq_u64_get(counts),
        .sampled = aq_u64_get(counts + 8),
        .items_sampled = aq_u64_get(counts + 16),
        .prioritized = aq_u64_get(counts + 24),
        .stale = aq_u64_get(counts + 32),
    };
    for (size_t i = 0; i < AQ_SAVED_SETTINGS; i++) {
        to->settings[i] = load_double(counts + 8 * (COUNTS + i));
    }
    return aq_replay_table_load(shelf->table, bytes, (size_t)size, error);
}

int aq_replay_snapshot_read(const uint8_t *bytes, size_t size, aq_replay_tables *tables,
                            aq_saved_table *saved, aq_error *error)
{
    reader in = {bytes, size};
    const uint8_t *header = take(&in, HEADER_BYTES);
    if (header == NULL || memcmp(header, magic, sizeof(magic)) != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "a snapshot that does not begin as one");
    }
    uint64_t version = aq_u32_get(header + 4);
    uint64_t count = aq_u32_get(header + 8);
    if (version != VERSION) {
        return aq_fail(error, AQ_E_VERSION,
                       "a snapshot of version %" PRIu64 "; this program reads %d", version,
                       VERSION);
    }
    for (uint64_t i = 0; i < count; i++) {
        int rc = read_table(&in, tables, saved, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

void aq_saved_table_tell_changes(const aq_saved_table *saved, const aq_table_spec *spec, char *text,
                                 size_t size)
{
    double settings[AQ_SAVED_SETTINGS];
    if (!saved->known) {
        return;
    }
    settings_of(spec, settings);
    for (size_t i = 0; i < AQ_SAVED_SETTINGS; i++) {
        if (settings[i] != saved->settings[i]) {
            aq_text_append(text, size, "%s%s.%s %g -> %g", text[0] != '\0' ? ", " : "", spec->name,
                           setting_names[i], saved->settings[i], settings[i]);
        }
    }
}
