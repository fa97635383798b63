/*
 * Progress: see progress.h.
 */
#include "cli/train/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"

enum { LINE_MAX_BYTES = 1024, BAR_CELLS = 20, COLUMNS_DEFAULT = 80 };
#define TERMINAL_PERIOD_NS (100 * AQ_NS_PER_MS)
#define PLAIN_PERIOD_NS    (2 * AQ_NS_PER_S)

void aq_progress_init(aq_progress *progress)
{
    *progress = (aq_progress){.is_terminal = isatty(STDERR_FILENO)};
}

/* "[#######.............]" for a share of 0 to 1. */
static void draw_bar(double share, char *out)
{
    int filled = (int)(share * BAR_CELLS);
    out[0] = '[';
    memset(out + 1, '#', (size_t)filled);
    memset(out + 1 + filled, '.', (size_t)(BAR_CELLS - filled));
    out[BAR_CELLS + 1] = ']';
    out[BAR_CELLS + 2] = '\0';
}

/* "return 187.3", "return 187.3 (fp32)" of a version that fell back to it, or "return ?" before the
 * first evaluation. */
static void draw_return(const Actorq__V1__LearnerStatus *learner, char *out, size_t size)
{
    if (learner->evaluations == 0) {
        (void)snprintf(out, size, "return ?");
    } else {
        char mean[32];
        (void)snprintf(out, size, "return %s%s",
                       aq_text_return(mean, sizeof(mean), learner->return_mean, 1),
                       learner->return_fell_back ? " (fp32)" : "");
    }
}

const char *aq_progress_line(const Actorq__V1__StatusReply *status, bool with_bar, unsigned columns,
                             char *out, size_t size)
{
    const Actorq__V1__LearnerStatus *learner = status->learner;
    char steps[32], limit[32], rate[32], trained[32], trained_rate[32], sent[32], full[32],
        left[32];
    char bar[BAR_CELLS + 3] = "";
    char result[48];
    double share = (double)learner->env_steps / fmax(1, (double)learner->env_steps_limit);
    share = fmin(share, 1); /* what was under way at the end arrives a little late */
    double remaining = (double)learner->env_steps_limit - (double)learner->env_steps;
    if (with_bar) {
        draw_bar(share, bar);
    }
    draw_return(learner, result, sizeof(result));
    (void)snprintf(left, sizeof(left), "?");
    if (learner->env_steps_per_s > 0) {
        (void)aq_text_duration(left, sizeof(left), fmax(0, remaining) / learner->env_steps_per_s);
    }
    int length = snprintf(
        out, size,
        "%s%s%3.0f%%  steps %s/%s %s/s  learner %s %s/s  %s  sent %s (whole fp32 %s)  <= %s left",
        bar, with_bar ? " " : "", 100 * share,
        aq_text_count(steps, sizeof(steps), (double)learner->env_steps),
        aq_text_count(limit, sizeof(limit), (double)learner->env_steps_limit),
        aq_text_count(rate, sizeof(rate), learner->env_steps_per_s),
        aq_text_count(trained, sizeof(trained), (double)learner->learner_steps),
        aq_text_count(trained_rate, sizeof(trained_rate), learner->learner_steps_per_s), result,
        aq_text_bytes(sent, sizeof(sent), (double)learner->broadcast_bytes),
        aq_text_bytes(full, sizeof(full), (double)learner->broadcast_bytes_fp32), left);
    if (length > 0 && (unsigned)length > columns && columns < size) {
        out[columns] = '\0'; /* a line that wraps can't be drawn over */
    }
    return out;
}

static unsigned terminal_columns(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 20) {
        return window.ws_col - 1u;
    }
    return COLUMNS_DEFAULT;
}

void aq_progress_show(aq_progress *progress, int64_t now_ns, const Actorq__V1__StatusReply *status)
{
    char line[LINE_MAX_BYTES];
    if (now_ns < progress->next_ns || !status->learner) {
        return;
    }
    if (progress->is_terminal) {
        progress->next_ns = now_ns + TERMINAL_PERIOD_NS;
        (void)fprintf(stderr, "\r\033[K%s",
                      aq_progress_line(status, true, terminal_columns(), line, sizeof(line)));
        progress->drawn = true;
    } else {
        progress->next_ns = now_ns + PLAIN_PERIOD_NS;
        (void)fprintf(stderr, "%s\n",
                      aq_progress_line(status, false, LINE_MAX_BYTES - 1, line, sizeof(line)));
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
