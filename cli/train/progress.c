/*
 * Progress: see progress.h.
 */
#include "cli/train/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/text/figure_text.h"
#include "common/base/clock.h"
#include "common/base/parse.h"

enum { LINE_MAX_BYTES = 1024, FIELD_MAX_BYTES = 512, COLUMNS_DEFAULT = 80, FIGURE_MAX = 32 };
#define TERMINAL_PERIOD_NS (100 * AQ_NS_PER_MS)
#define PLAIN_PERIOD_NS    (2 * AQ_NS_PER_S)
#define YOUNG_NS           (3600 * AQ_NS_PER_S) /* lines of a file are as close as any */

void aq_progress_init(aq_progress *progress)
{
    *progress = (aq_progress){.is_terminal = isatty(STDERR_FILENO), .left_s = NAN};
}

/* ---- what is known -------------------------------------------------------------------------- */

static double share_of(double done, double limit)
{
    return limit > 0 ? fmin(done / limit, 1) : 0; /* what was under way at the end comes late */
}

/* Of the limit that is nearest. They are those of now: `actorq set` may change them. */
static double share_used(const aq_progress_done *done, const Actorq__V1__LearnerStatus *learner)
{
    return fmax(share_of(done->env_steps, (double)learner->env_steps_limit),
                fmax(share_of(done->learner_steps, (double)learner->learner_steps_limit),
                     share_of(done->wall_s, learner->wall_limit_s)));
}

void aq_progress_take(aq_progress *progress, int64_t now_ns, const Actorq__V1__StatusReply *status)
{
    const Actorq__V1__LearnerStatus *learner = status->learner;
    const aq_progress_done done = {
        .env_steps = (double)learner->env_steps,
        .learner_steps = (double)learner->learner_steps,
        .wall_s = learner->wall_s,
    };
    progress->share = share_used(&done, learner);
    if (progress->first_ns == 0) {
        progress->first_ns = now_ns;
        progress->first = done;
    }
    const double gained = progress->share - share_used(&progress->first, learner);
    progress->left_s =
        gained > 0 ? (1 - progress->share) / gained * aq_ns_to_s(now_ns - progress->first_ns)
                   : (double)NAN;
    if (learner->evaluations != progress->evaluations) {
        progress->evaluations = learner->evaluations;
        aq_spark_add(&progress->returns, learner->return_mean);
    }
}

/* ---- the line ------------------------------------------------------------------------------- */

typedef struct line_builder {
    char *out;
    size_t size, used;
    unsigned columns, taken;
} line_builder;

static bool begins_character(char letter)
{
    return ((unsigned char)letter & 0xc0) != 0x80;
}

/* A field as it is, if it fits whole; the first is cut. */
static void put(line_builder *line, const char *format, ...) AQ_PRINTF(2, 3);

static void put(line_builder *line, const char *format, ...)
{
    char field[FIELD_MAX_BYTES];
    const char *gap = line->used > 0 ? "  " : "";
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(field, sizeof(field), format, arguments);
    va_end(arguments);
    unsigned width = (unsigned)strlen(gap);
    size_t bytes = 0;
    for (; field[bytes] != '\0'; bytes++) {
        const bool begins = begins_character(field[bytes]);
        if (begins && line->used == 0 && width == line->columns) {
            break;
        }
        width += begins;
    }
    if (line->taken + width <= line->columns &&
        line->used + strlen(gap) + bytes + 1 <= line->size) {
        line->used += (size_t)snprintf(line->out + line->used, line->size - line->used, "%s%.*s",
                                       gap, (int)bytes, field);
        line->taken += width;
    } else {
        line->columns = line->taken; /* nothing less important comes in its place */
    }
}

/* "return 187.3", "return 187.3 (fp32)" of a version that fell back to it, or "return ?" before the
 * first evaluation. */
static const char *draw_return(const Actorq__V1__LearnerStatus *learner, char *out, size_t size)
{
    if (learner->evaluations == 0) {
        (void)snprintf(out, size, "return ?");
    } else {
        char mean[32];
        (void)snprintf(out, size, "return %s%s",
                       aq_text_return(mean, sizeof(mean), learner->return_mean, 1),
                       learner->return_fell_back ? " (fp32)" : "");
    }
    return out;
}

static const char *draw_left(const aq_progress *progress, char out[FIGURE_MAX])
{
    if (isnan(progress->left_s)) {
        (void)snprintf(out, FIGURE_MAX, "?");
        return out;
    }
    return aq_text_duration(out, FIGURE_MAX, progress->left_s);
}

/* "125.0k/500.0k", or "125.0k" where nothing limits them. */
static const char *draw_steps(const Actorq__V1__LearnerStatus *learner, char *out, size_t size)
{
    char steps[FIGURE_MAX], limit[FIGURE_MAX];
    const bool is_limited = learner->env_steps_limit > 0;
    (void)snprintf(
        out, size, "%s%s%s", aq_text_count(steps, sizeof(steps), (double)learner->env_steps),
        is_limited ? "/" : "",
        is_limited ? aq_text_count(limit, sizeof(limit), (double)learner->env_steps_limit) : "");
    return out;
}

const char *aq_progress_line(const aq_progress *progress, const Actorq__V1__StatusReply *status,
                             const char *trouble, unsigned columns, char *out, size_t size)
{
    const Actorq__V1__LearnerStatus *learner = status->learner;
    line_builder line = {.out = out, .size = size, .columns = columns};
    char figure[FIGURE_MAX], result[FIELD_MAX_BYTES], spark[AQ_SPARK_BYTES];
    aq_figure rate;
    out[0] = '\0';
    if (trouble[0] != '\0') {
        put(&line, "%s", trouble);
    }
    (void)aq_spark_draw(&progress->returns, spark);
    put(&line, "%s%s%s", draw_return(learner, result, sizeof(result)), spark[0] ? " " : "", spark);
    put(&line, "%.0f%%", 100 * progress->share);
    put(&line, "<= %s left", draw_left(progress, figure));
    put(&line, "%s steps", draw_steps(learner, result, sizeof(result)));
    put(&line, "%s/s", aq_figure_rate(&rate, learner->env_steps_per_s));
    put(&line, "trained %s %s/s", aq_text_count(figure, FIGURE_MAX, (double)learner->learner_steps),
        aq_figure_rate(&rate, learner->learner_steps_per_s));
    put(&line, "sent %s", aq_text_bytes(figure, FIGURE_MAX, (double)learner->broadcast_bytes));
    return out;
}

const char *aq_progress_plain_line(const aq_progress *progress,
                                   const Actorq__V1__StatusReply *status, const char *trouble,
                                   char *out, size_t size)
{
    const Actorq__V1__LearnerStatus *learner = status->learner;
    char trained[FIGURE_MAX], sent[FIGURE_MAX], full[FIGURE_MAX], left[FIGURE_MAX];
    aq_figure rate, trained_rate;
    char steps[FIELD_MAX_BYTES], result[FIELD_MAX_BYTES];
    (void)snprintf(
        out, size,
        "%s%s%3.0f%%  steps %s %s/s  learner %s %s/s  %s  sent %s (whole fp32 %s)  <= %s left",
        trouble, trouble[0] != '\0' ? "  " : "", 100 * progress->share,
        draw_steps(learner, steps, sizeof(steps)), aq_figure_rate(&rate, learner->env_steps_per_s),
        aq_text_count(trained, sizeof(trained), (double)learner->learner_steps),
        aq_figure_rate(&trained_rate, learner->learner_steps_per_s),
        draw_return(learner, result, sizeof(result)),
        aq_text_bytes(sent, sizeof(sent), (double)learner->broadcast_bytes),
        aq_text_bytes(full, sizeof(full), (double)learner->broadcast_bytes_fp32),
        draw_left(progress, left));
    return out;
}

/* ---- showing it ----------------------------------------------------------------------------- */

unsigned aq_progress_columns(int descriptor)
{
    struct winsize window;
    if (ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 20) {
        return window.ws_col - 1u; /* a line that wraps can't be drawn over */
    }
    return COLUMNS_DEFAULT;
}

/* From an hour on by the time that it has shown the run for, as lines of metrics are: what takes
 * them down for weeks must not fill the disk. */
static int64_t plain_period_ns(const aq_progress *progress, int64_t now_ns)
{
    const int64_t age_ns = now_ns - progress->first_ns;
    return age_ns > YOUNG_NS ? age_ns / (YOUNG_NS / PLAIN_PERIOD_NS) : PLAIN_PERIOD_NS;
}

void aq_progress_show(aq_progress *progress, int64_t now_ns, const Actorq__V1__StatusReply *status,
                      const char *trouble)
{
    char line[LINE_MAX_BYTES];
    if (!status->learner) {
        return;
    }
    aq_progress_take(progress, now_ns, status);
    if (now_ns < progress->next_ns) {
        return;
    }
    if (progress->is_terminal) {
        progress->next_ns = now_ns + TERMINAL_PERIOD_NS;
        (void)fprintf(stderr, "\r\033[K%s",
                      aq_progress_line(progress, status, trouble,
                                       aq_progress_columns(STDERR_FILENO), line, sizeof(line)));
        progress->drawn = true;
    } else {
        progress->next_ns = now_ns + plain_period_ns(progress, now_ns);
        (void)fprintf(stderr, "%s\n",
                      aq_progress_plain_line(progress, status, trouble, line, sizeof(line)));
    }
    (void)fflush(stderr);
}

void aq_progress_clear(aq_progress *progress)
{
    if (progress->drawn) {
        (void)fprintf(stderr, "\r\033[K");
        (void)fflush(stderr);
        progress->drawn = false;
    }
}
