/*
 * Categorical: one output, a logit, for each choice; a choice is drawn with the probability that
 * their softmax gives it. Greedily, the greatest is chosen. Of several choices at once, each has
 * its outputs behind those of the one before and is drawn by itself, so that log-probabilities,
 * entropies and divergences add up.
 */
#include "common/base/exact_math.h"
#include "common/policy/head.h"

/* ---- drawing -------------------------------------------------------------------------------- */

static float log_prob(const aq_head_terms *terms, const float *outputs, const aq_head_draw *draw)
{
    const uint32_t parts = aq_head_parts(terms);
    const int32_t *choices = draw->action;
    double sum = 0.0;
    for (uint32_t part = 0; part < parts; part++) {
        const uint32_t width = aq_head_width(terms, part);
        sum += (double)outputs[choices[part]] - aq_exact_log_sum_exp(outputs, width);
        outputs += width;
    }
    return (float)sum;
}

/* The first choice up to which the probabilities add up to more than the noise. Rounding may leave
 * none: then it is the greatest. */
static uint32_t draw_one(const float *outputs, uint32_t width, double total, float noise)
{
    double sum = 0.0;
    for (uint32_t choice = 0; choice < width; choice++) {
        sum += aq_exact_exp((double)outputs[choice] - total);
        if (sum > (double)noise) {
            return choice;
        }
    }
    return aq_argmax(outputs, width);
}

static float draw(const aq_head_terms *terms, const float *outputs, const float *noise,
                  void *action, float *drawn)
{
    const uint32_t parts = aq_head_parts(terms);
    int32_t *choices = action;
    double sum = 0.0;
    (void)drawn;
    for (uint32_t part = 0; part < parts; part++) {
        const uint32_t width = aq_head_width(terms, part);
        const double total = aq_exact_log_sum_exp(outputs, width);
        const uint32_t choice = draw_one(outputs, width, total, noise[part]);
        choices[part] = (int32_t)choice;
        sum += (double)outputs[choice] - total;
        outputs += width;
    }
    return (float)sum;
}

static double kl(const aq_head_terms *from, const float *from_outputs, const aq_head_terms *to,
                 const float *to_outputs)
{
    const uint32_t parts = aq_head_parts(from);
    double sum = 0.0;
    (void)to;
    for (uint32_t part = 0; part < parts; part++) {
        const uint32_t width = aq_head_width(from, part);
        sum += aq_choices_kl(from_outputs, to_outputs, width);
        from_outputs += width;
        to_outputs += width;
    }
    return sum;
}

/* ---- gradients ------------------------------------------------------------------------------ */

/* Of a choice; its entropy. */
static double slopes_of_one(const float *outputs, uint32_t width, int32_t choice,
                            aq_head_scales scales, float *slope)
{
    const double total = aq_exact_log_sum_exp(outputs, width);
    double entropy = 0.0;
    for (uint32_t i = 0; i < width; i++) {
        const double log_p = (double)outputs[i] - total;
        const double p = aq_exact_exp(log_p);
        entropy -= p * log_p;
        slope[i] -= scales.log_prob * (float)p;
    }
    slope[choice] += scales.log_prob;
    for (uint32_t i = 0; scales.entropy != 0.0f && i < width; i++) {
        const double log_p = (double)outputs[i] - total;
        slope[i] -= scales.entropy * (float)(aq_exact_exp(log_p) * (log_p + entropy));
    }
    return entropy;
}

static double slopes(const aq_head_terms *terms, const float *outputs, const aq_head_draw *draw,
                     aq_head_scales scales, const aq_head_slope *slope)
{
    const uint32_t parts = aq_head_parts(terms);
    const int32_t *choices = draw->action;
    double entropy = 0.0;
    for (uint32_t part = 0, first = 0; part < parts; part++) {
        const uint32_t width = aq_head_width(terms, part);
        entropy +=
            slopes_of_one(outputs + first, width, choices[part], scales, slope->outputs + first);
        first += width;
    }
    return entropy;
}

static void kl_slope(const aq_head_terms *from, const float *from_outputs, const aq_head_terms *to,
                     const float *to_outputs, float scale, const aq_head_slope *slope)
{
    const uint32_t parts = aq_head_parts(from);
    float *d_outputs = slope->outputs;
    (void)to;
    for (uint32_t part = 0; part < parts; part++) {
        const uint32_t width = aq_head_width(from, part);
        const double from_total = aq_exact_log_sum_exp(from_outputs, width);
        const double to_total = aq_exact_log_sum_exp(to_outputs, width);
        for (uint32_t i = 0; i < width; i++) {
            const double p = aq_exact_exp((double)*from_outputs++ - from_total);
            const double q = aq_exact_exp((double)*to_outputs++ - to_total);
            *d_outputs++ += scale * (float)(q - p);
        }
    }
}

/* The probability that moves from some choices to others, of each choice. */
static aq_head_cost cost(const aq_head_terms *terms, const float *exact, const float *outputs)
{
    const uint32_t parts = aq_head_parts(terms);
    double moved = 0.0;
    for (uint32_t part = 0; part < parts; part++) {
        const uint32_t width = aq_head_width(terms, part);
        const double exact_total = aq_exact_log_sum_exp(exact, width);
        const double total = aq_exact_log_sum_exp(outputs, width);
        for (uint32_t i = 0; i < width; i++) {
            const double p = aq_exact_exp((double)*exact++ - exact_total);
            const double q = aq_exact_exp((double)*outputs++ - total);
            moved += p > q ? p - q : 0.0;
        }
    }
    return (aq_head_cost){moved, parts};
}

static const aq_head_drawing drawing = {
    .noise = AQ_DRAWS_FROM_UNIFORM,
    .noise_count = aq_head_parts,
    .draw = draw,
    .log_prob = log_prob,
    .kl = kl,
    .slopes = slopes,
    .kl_slope = kl_slope,
};

/* clang-format off */
static const char draw_prototype[] =
    "\n"
    "/* The choice that `random`, from 0 to below 1, draws by their probabilities, as actors do;\n"
    "   (word >> 8) * 0x1p-24f makes one of 32 random bits. *log_prob, unless it is NULL,\n"
    "   becomes the logarithm of the choice's probability. */\n"
    "uint32_t @_draw(const float *obs, float random, float *log_prob);\n";

static const char draw_text[] =
    "\n"
    "uint32_t @_draw(const float *obs, float random, float *log_prob)\n"
    "{\n"
    "    float logits[$outputs];\n"
    "    uint32_t choice = 0;\n"
    "    double sum = 0.0;\n"
    "    @_forward(obs, logits);\n"
    "    const double total = @_exact_log_sum_exp(logits, $outputs);\n"
    "    for (; choice < $outputs; choice++) {\n"
    "        sum += @_exact_exp((double)logits[choice] - total);\n"
    "        if (sum > (double)random) {\n"
    "            break;\n"
    "        }\n"
    "    }\n"
    "    choice = choice < $outputs ? choice : @_greatest(logits, $outputs);\n"
    "    if (log_prob != NULL) {\n"
    "        *log_prob = (float)((double)logits[choice] - total);\n"
    "    }\n"
    "    return choice;\n"
    "}\n";

static const char draw_prototype_row[] =
    "\n"
    "/* The $elements choices that as many numbers, from 0 to below 1, draw by their\n"
    "   probabilities, as actors do; (word >> 8) * 0x1p-24f makes one of 32 random bits.\n"
    "   *log_prob, unless it is NULL, becomes the logarithm of the action's probability. */\n"
    "void @_draw(const float *obs, const float *random, int32_t *action, float *log_prob);\n";

static const char draw_text_row[] =
    "\n"
    "void @_draw(const float *obs, const float *random, int32_t *action, float *log_prob)\n"
    "{\n"
    "    float logits[$outputs];\n"
    "    const float *own = logits;\n"
    "    double all = 0.0;\n"
    "    @_forward(obs, logits);\n"
    "    for (uint32_t i = 0; i < $elements; i++) {\n"
    "        const uint32_t count = (uint32_t)@_bounds[i][1] + 1;\n"
    "        const double total = @_exact_log_sum_exp(own, count);\n"
    "        uint32_t choice = 0;\n"
    "        double sum = 0.0;\n"
    "        for (; choice < count; choice++) {\n"
    "            sum += @_exact_exp((double)own[choice] - total);\n"
    "            if (sum > (double)random[i]) {\n"
    "                break;\n"
    "            }\n"
    "        }\n"
    "        choice = choice < count ? choice : @_greatest(own, count);\n"
    "        all += (double)own[choice] - total;\n"
    "        action[i] = (int32_t)choice;\n"
    "        own += count;\n"
    "    }\n"
    "    if (log_prob != NULL) {\n"
    "        *log_prob = (float)all;\n"
    "    }\n"
    "}\n";
/* clang-format on */

static const aq_head_code code = {
    .prototypes = {aq_greatest_prototype_one, draw_prototype},
    .texts = {aq_greatest_text, aq_greatest_act_one, draw_text},
};

static const aq_head_code code_of_row = {
    .prototypes = {aq_greatest_prototype_row, draw_prototype_row},
    .texts = {aq_greatest_text, aq_greatest_act_row, draw_text_row},
};

const aq_head aq_head_categorical = {
    .name = "categorical",
    .check = aq_greatest_check,
    .act = aq_greatest_act,
    .cost = cost,
    .drawing = &drawing,
    .code = &code,
    .code_of_row = &code_of_row,
};
