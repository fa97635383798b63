/*
 * See replay_figures.h.
 */
#include "bench/replay/replay_figures.h"

#include <inttypes.h>

#include "cli/text/command.h"
#include "common/sys/machine.h"

static double ratio(const struct aq_raw_figure *figure)
{
    return figure->bytes_per_s / figure->raw_bytes_per_s;
}

static json_t *raw_json(const struct aq_raw_figure *figure)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "size_bytes", aq_json_number(figure->size),
                     "bytes_per_s", aq_json_number(figure->bytes_per_s), "raw_bytes_per_s",
                     aq_json_number(figure->raw_bytes_per_s), "ratio",
                     aq_json_number(ratio(figure)));
}

static json_t *beside_json(const aq_replay_figures *figures)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "insert_messages", raw_json(&figures->small_messages),
        "large_insert_messages", raw_json(&figures->large_messages), "sample_answers",
        raw_json(&figures->answers), "row_copy_batches_per_s",
        aq_json_number(figures->row_copy_batches_per_s), "inprocess_to_row_copy",
        aq_json_number(figures->inprocess_batches_per_s / figures->row_copy_batches_per_s),
        "bytes_per_step_to_payload", aq_json_number(figures->bytes_per_step / figures->step_bytes));
}

static json_t *conditions_json(const aq_replay_bench_plan *plan, const aq_replay_figures *figures)
{
    return json_pack("{s:s, s:b, s:o, s:o, s:i, s:s, s:i, s:o, s:o}", "transport",
                     plan->over_tcp ? "tcp" : "ipc", "quick", plan->quick, "transitions",
                     aq_json_count(plan->transitions), "slice_s",
                     aq_json_number((double)plan->slice_ns / 1e9), "slices", AQ_REPLAY_SLICES,
                     "processor", aq_machine_model(), "processors", (int)aq_machine_cpu_count(),
                     "load_before", aq_json_number(figures->load[0]), "load_after",
                     aq_json_number(figures->load[1]));
}

json_t *aq_replay_figures_json(const aq_replay_bench_plan *plan, const aq_replay_figures *figures)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "insert_steps_per_s",
        aq_json_number(figures->insert_steps_per_s), "insert_bytes_per_s",
        aq_json_number(figures->insert_bytes_per_s), "sample_batches_per_s",
        aq_json_number(figures->sample_batches_per_s), "prioritized_batches_per_s",
        aq_json_number(figures->prioritized_batches_per_s), "sample_p99_ms",
        aq_json_number(figures->sample_p99_ms), "inprocess_batches_per_s",
        aq_json_number(figures->inprocess_batches_per_s), "inprocess_prioritized_batches_per_s",
        aq_json_number(figures->inprocess_prioritized_batches_per_s), "bytes_per_step",
        aq_json_number(figures->bytes_per_step), "sample_p50_ms",
        aq_json_number(figures->sample_p50_ms), "insert_steps_per_s_meanwhile",
        aq_json_number(figures->busy_insert_steps_per_s), "snapshots_meanwhile",
        aq_json_count(figures->busy_snapshots), "beside", beside_json(figures), "conditions",
        conditions_json(plan, figures));
}

static void print_raw(FILE *out, const char *what, const struct aq_raw_figure *figure)
{
    (void)fprintf(out, "  %-30s %8.2f GB/s  raw messages of %.0f KiB %6.2f GB/s  ratio %.2f\n",
                  what, figure->bytes_per_s / 1e9, figure->size / 1024.0,
                  figure->raw_bytes_per_s / 1e9, ratio(figure));
}

void aq_replay_figures_print(FILE *out, const aq_replay_bench_plan *plan,
                             const aq_replay_figures *figures)
{
    (void)fprintf(out,
                  "Replay over %s, %" PRIu64
                  " steps, %d slices of %.1f s; %s, %u processors, load %.1f to %.1f\n\n",
                  plan->over_tcp ? "tcp" : "ipc", plan->transitions, AQ_REPLAY_SLICES,
                  (double)plan->slice_ns / 1e9, aq_machine_model(), aq_machine_cpu_count(),
                  figures->load[0], figures->load[1]);
    (void)fprintf(out, "  insert, durable                %8.2f million steps/s\n",
                  figures->insert_steps_per_s / 1e6);
    (void)fprintf(out, "  insert, 8 KiB steps in memory  %8.2f GB/s\n",
                  figures->insert_bytes_per_s / 1e9);
    (void)fprintf(out, "  sample, uniform                %8.0f batches/s\n",
                  figures->sample_batches_per_s);
    (void)fprintf(out, "  sample, by priority, updated   %8.0f batches/s\n",
                  figures->prioritized_batches_per_s);
    (void)fprintf(
        out,
        "  sample, p99 while inserting    %8.2f ms (median %.2f; %.2f million steps/s and "
        "%" PRIu64 " snapshots meanwhile)\n",
        figures->sample_p99_ms, figures->sample_p50_ms, figures->busy_insert_steps_per_s / 1e6,
        figures->busy_snapshots);
    (void)fprintf(out,
                  "  in process, uniform            %8.0f batches/s (copying rows alone: %.0f)\n",
                  figures->inprocess_batches_per_s, figures->row_copy_batches_per_s);
    (void)fprintf(out, "  in process, by priority        %8.0f batches/s\n",
                  figures->inprocess_prioritized_batches_per_s);
    (void)fprintf(out,
                  "  memory                         %8.1f bytes/step, of which %u are the step\n\n",
                  figures->bytes_per_step, figures->step_bytes);
    print_raw(out, "insert, as messages", &figures->small_messages);
    print_raw(out, "insert of 8 KiB, as messages", &figures->large_messages);
    print_raw(out, "sample, as answers", &figures->answers);
}
