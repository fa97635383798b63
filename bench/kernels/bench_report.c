/*
 * Bench report: see bench_report.h.
 */
#include "bench/kernels/bench_report.h"

#include <inttypes.h>
#include <math.h>

#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/sys/cpu.h"
#include "common/sys/machine.h"

enum { TEXT_BYTES = 256 };

int aq_bench_report_init(const aq_bench_plan *plan, aq_bench_report *ret_report)
{
    const size_t each = plan->rung_count * AQ_BENCH_CASE_ROWS_MAX;
    aq_bench_report report = {
        .timing = plan->timing,
        .row_max = plan->sizes.count * plan->batches.count * each,
        .policy_max = (plan->policies.count + plan->pictures.count * plan->batches.count) * each,
    };
    report.rows = aq_alloc(report.row_max, sizeof(*report.rows));
    report.policies = aq_alloc(report.policy_max, sizeof(*report.policies));
    if (report.rows == NULL || report.policies == NULL) {
        aq_bench_report_fini(&report);
        return AQ_E_NOMEM;
    }
    *ret_report = report;
    return 0;
}

void aq_bench_report_fini(aq_bench_report *report)
{
    aq_free(report->rows);
    aq_free(report->policies);
    *report = (aq_bench_report){0};
}

/* ---- for programs --------------------------------------------------------------------------- */

static json_t *peers_json(void)
{
    char text[TEXT_BYTES];
    json_t *peers = json_array();
    for (size_t i = 0; i < AQ_BENCH_PEERS; i++) {
        const aq_bench_peer *peer = aq_bench_peer_at(i);
        if (peer->describe != NULL) {
            peer->describe(text, sizeof(text));
        }
        (void)json_array_append_new(
            peers,
            json_pack("{s:s, s:b, s:o}", "name", peer->name, "in_this_build", peer->create != NULL,
                      "version", peer->describe != NULL ? aq_json_text(text) : json_null()));
    }
    return peers;
}

/* Of the fastest reader. */
static double read_speed(const aq_speed_limits *limits, size_t size)
{
    double most = limits->gb_per_s[size][0];
    for (size_t i = 1; i < AQ_LIMIT_READERS; i++) {
        most = fmax(most, limits->gb_per_s[size][i]);
    }
    return most;
}

static json_t *limits_json(const aq_speed_limits *limits)
{
    json_t *read = json_array();
    for (size_t i = 0; i < limits->size_count; i++) {
        json_t *readers = json_object();
        for (size_t k = 0; k < AQ_LIMIT_READERS; k++) {
            (void)json_object_set_new(readers, limits->loops->readers[k].name,
                                      aq_json_number(limits->gb_per_s[i][k]));
        }
        (void)json_array_append_new(
            read, json_pack("{s:o, s:o, s:o}", "bytes", aq_json_count(limits->bytes[i]), "gb_per_s",
                            aq_json_number(read_speed(limits, i)), "readers", readers));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "rung", limits->loops->rung, "read", read,
                     "dot_gop_per_s", aq_json_number(limits->dot_gop_per_s), "fma_gop_per_s",
                     aq_json_number(limits->fma_gop_per_s));
}

/* A layer's row has its sizes, a policy's its network. */
static json_t *row_json(const aq_bench_row *row, bool is_layer)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "format",
        aq_format_name(row->format), "rung", row->rung, "batch", aq_json_count(row->batch), "us",
        aq_json_number(row->us), "peer", row->peer != NULL ? json_string(row->peer) : json_null(),
        "peer_us", aq_json_number(row->peer_us), "ratio", aq_json_number(row->ratio), "limit_us",
        aq_json_number(row->limit_us), "limit_share", aq_json_number(row->limit_share), "bytes",
        aq_json_count(row->bytes), "limited_by", row->limited_by_bytes ? "bytes" : "operations");
    if (is_layer) {
        (void)json_object_set_new(object, "k", aq_json_count(row->inputs));
        (void)json_object_set_new(object, "n", aq_json_count(row->outputs));
    } else {
        (void)json_object_set_new(object, "network", json_string(row->network));
    }
    return object;
}

static json_t *rows_json(const aq_bench_row *rows, size_t count, bool is_layer)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, row_json(&rows[i], is_layer));
    }
    return array;
}

json_t *aq_bench_report_json(const aq_bench_report *report)
{
    json_t *limits = json_array();
    char flags[AQ_CPU_TEXT_MAX];
    for (size_t i = 0; i < report->limits_count; i++) {
        (void)json_array_append_new(limits, limits_json(&report->limits[i]));
    }
    return json_pack(
        "{s:s, s:s, s:{s:s, s:s, s:o}, s:o, s:o, s:o, s:[o, o], s:o, s:o, s:o, s:o}", "benchmark",
        "kernels", "version", AQ_VERSION, "cpu", "model", aq_machine_model(), "flags",
        aq_cpu_flags_text(report->cpu_flags, flags, sizeof(flags)), "count",
        aq_json_count(aq_machine_cpu_count()), "threads", aq_json_count(1), "repeats",
        aq_json_count(report->timing.rounds), "slice_us",
        aq_json_number((double)report->timing.slice_ns / (double)AQ_NS_PER_US), "load",
        aq_json_number(report->load[0]), aq_json_number(report->load[1]), "peers", peers_json(),
        "limits", limits, "rows", rows_json(report->rows, report->row_count, true), "policies",
        rows_json(report->policies, report->policy_count, false));
}

/* ---- for people ----------------------------------------------------------------------------- */

static void print_peers(FILE *out)
{
    char text[TEXT_BYTES];
    const char *last = "";
    for (size_t i = 0; i < AQ_BENCH_PEERS; i++) {
        const aq_bench_peer *peer = aq_bench_peer_at(i);
        if (peer->library == last) {
            continue;
        }
        last = peer->library;
        if (peer->describe != NULL) {
            peer->describe(text, sizeof(text));
            aq_print_fact(out, peer->library, "%s", text);
        } else {
            aq_print_fact(out, peer->library, "not in this build");
        }
    }
}

static int print_limits(FILE *out, const aq_speed_limits *limits)
{
    aq_table_column columns[2 + AQ_LIMIT_READERS] = {{"GB/s", AQ_TABLE_RIGHT}};
    aq_text_table table;
    aq_figure figure;
    for (size_t k = 0; k < AQ_LIMIT_READERS; k++) {
        columns[1 + k] = (aq_table_column){limits->loops->readers[k].name, AQ_TABLE_RIGHT};
    }
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; i < limits->size_count; i++) {
        aq_text_table_row(&table);
        aq_text_table_cell(&table, "%s", aq_figure_bytes(&figure, (double)limits->bytes[i]));
        for (size_t k = 0; k < AQ_LIMIT_READERS; k++) {
            aq_text_table_cell(&table, "%s", aq_figure_number(&figure, limits->gb_per_s[i][k]));
        }
    }
    (void)fprintf(out, "\nlimits of %s: %.0f Gop/s in bytes, %.0f in floats; reading memory\n\n",
                  limits->loops->rung, limits->dot_gop_per_s, limits->fma_gop_per_s);
    return aq_text_table_end(&table, out);
}

/* Rows of the same measurement of ours: one a peer. */
static size_t rows_of_one(const aq_bench_row *rows, size_t count)
{
    size_t same = 1;
    while (same < count && rows[same].format == rows[0].format && rows[same].us == rows[0].us &&
           rows[same].peer != NULL && same < AQ_BENCH_PEERS) {
        same++;
    }
    return same;
}

/* NULL: this peer does not solve it. */
static const aq_bench_row *row_of_peer(const aq_bench_row *rows, size_t count, const char *peer)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].peer == peer) {
            return &rows[i];
        }
    }
    return NULL;
}

static void add_line(aq_text_table *table, const aq_bench_row *rows, size_t count)
{
    aq_figure us, ratio, share;
    aq_text_table_row(table);
    aq_text_table_cell(table, "%s", rows->network);
    aq_text_table_cell(table, "%zu", rows->batch);
    aq_text_table_cell(table, "%s", rows->rung);
    aq_text_table_cell(table, "%s", aq_format_name(rows->format));
    aq_text_table_cell(table, "%s", aq_figure_number(&us, rows->us));
    for (size_t i = 0; i < AQ_BENCH_PEERS; i++) {
        const aq_bench_peer *peer = aq_bench_peer_at(i);
        const aq_bench_row *row = row_of_peer(rows, count, peer->name);
        if (peer->create != NULL) {
            aq_text_table_cell(table, "%s", aq_figure_number(&us, row ? row->peer_us : NAN));
            aq_text_table_cell(table, "%s", aq_figure_number(&ratio, row ? row->ratio : NAN));
        }
    }
    aq_text_table_cell(table, "%s", aq_figure_number(&us, rows->limit_us));
    aq_text_table_cell(table, "%s", rows->limited_by_bytes ? "bytes" : "operations");
    aq_text_table_cell(table, "%s", aq_figure_share(&share, rows->limit_share));
}

/* A line for each format, with a time and a ratio of each peer that there is. */
static int print_rows(FILE *out, const aq_bench_row *rows, size_t count)
{
    aq_table_column columns[AQ_TABLE_COLUMNS_MAX] = {
        {"network", AQ_TABLE_LEFT}, {"rows", AQ_TABLE_RIGHT}, {"rung", AQ_TABLE_LEFT},
        {"format", AQ_TABLE_LEFT},  {"us", AQ_TABLE_RIGHT},
    };
    size_t used = 5;
    aq_text_table table;
    for (size_t i = 0; i < AQ_BENCH_PEERS; i++) {
        const aq_bench_peer *peer = aq_bench_peer_at(i);
        if (peer->create != NULL) {
            columns[used++] = (aq_table_column){peer->name, AQ_TABLE_RIGHT};
            columns[used++] = (aq_table_column){"ratio", AQ_TABLE_RIGHT};
        }
    }
    columns[used++] = (aq_table_column){"limit", AQ_TABLE_RIGHT};
    columns[used++] = (aq_table_column){"by", AQ_TABLE_LEFT};
    columns[used++] = (aq_table_column){"share", AQ_TABLE_RIGHT};
    AQ_ASSERT(used < AQ_TABLE_COLUMNS_MAX);
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; i < count;) {
        const size_t same = rows_of_one(rows + i, count - i);
        add_line(&table, rows + i, same);
        i += same;
    }
    (void)fputc('\n', out);
    return aq_text_table_end(&table, out);
}

int aq_bench_report_print(FILE *out, const aq_bench_report *report)
{
    int rc = 0;
    char flags[AQ_CPU_TEXT_MAX];
    (void)fprintf(
        out,
        "kernels, one thread, microseconds of processor time; ratio: the peer's time by ours\n");
    aq_print_fact(out, "processor", "%s (%s)", aq_machine_model(),
                  aq_cpu_flags_text(report->cpu_flags, flags, sizeof(flags)));
    aq_print_fact(out, "medians", "of %" PRIu32 " slices; load %.2f before, %.2f after",
                  report->timing.rounds, report->load[0], report->load[1]);
    print_peers(out);
    for (size_t i = 0; rc == 0 && i < report->limits_count; i++) {
        rc = print_limits(out, &report->limits[i]);
    }
    if (rc == 0 && report->row_count > 0) {
        rc = print_rows(out, report->rows, report->row_count);
    }
    if (rc == 0 && report->policy_count > 0) {
        rc = print_rows(out, report->policies, report->policy_count);
    }
    return rc;
}
