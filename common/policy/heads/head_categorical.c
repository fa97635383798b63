/*
 * Categorical: one output, a logit, for each choice; a choice is drawn with the probability that
 * their softmax gives it. Greedily, the greatest is chosen.
 */
#include "common/base/exact_math.h"
#include "common/policy/head.h"

static int check(const aq_net_spec *spec, const aq_space *action, aq_error *error)
{
    return aq_head_of(AQ_HEAD_ARGMAX)->check(spec, action, error);
}

static void act(const aq_head_terms *terms, const float *outputs, uint32_t rows, void *actions)
{
    aq_head_of(AQ_HEAD_ARGMAX)->act(terms, outputs, rows, actions);
}

/* ---- drawing -------------------------------------------------------------------------------- */

static uint32_t noise_count(const aq_head_terms *terms)
{
    (void)terms;
    return 1;
}

static float log_prob(const aq_head_terms *terms, const float *outputs, const aq_head_draw *draw)
{
    const int32_t choice = *(const int32_t *)draw->action;
    return (float)((double)outputs[choice] - aq_exact_log_sum_exp(outputs, terms->width));
}

/* The first choice up to which the probabilities add up to more than the noise. Rounding may leave
 * none: then it is the greatest. */
static float draw(const aq_head_terms *terms, const float *outputs, const float *noise,
                  void *action, float *drawn)
{
    const double total = aq_exact_log_sum_exp(outputs, terms->width);
    uint32_t choice = 0;
    double sum = 0.0;
    (void)drawn;
    while (choice < terms->width) {
        sum += aq_exact_exp((double)outputs[choice] - total);
        if (sum > (double)*noise) {
            break;
        }
        choice++;
    }
    if (choice == terms->width) {
        choice = aq_argmax(outputs, terms->width);
    }
    *(int32_t *)action = (int32_t)choice;
    return (float)((double)outputs[choice] - total);
}

static double kl(const aq_head_terms *from, const float *from_outputs, const aq_head_terms *to,
                 const float *to_outputs)
{
    const double from_total = aq_exact_log_sum_exp(from_outputs, from->width);
    const double to_total = aq_exact_log_sum_exp(to_outputs, to->width);
    double sum = 0.0;
    for (uint32_t i = 0; i < from->width; i++) {
        const double log_p = (double)from_outputs[i] - from_total;
        sum += aq_exact_exp(log_p) * (log_p - ((double)to_outputs[i] - to_total));
    }
    return sum < 0.0 ? 0.0 : sum; /* by rounding */
}

/* ---- gradients ------------------------------------------------------------------------------ */

static double slopes(const aq_head_terms *terms, const float *outputs, const aq_head_draw *draw,
                     aq_head_scales scales, const aq_head_slope *slope)
{
    const double total = aq_exact_log_sum_exp(outputs, terms->width);
    double entropy = 0.0;
    for (uint32_t i = 0; i < terms->width; i++) {
        const double log_p = (double)outputs[i] - total;
        const double p = aq_exact_exp(log_p);
        entropy -= p * log_p;
        slope->outputs[i] -= scales.log_prob * (float)p;
    }
    slope->outputs[*(const int32_t *)draw->action] += scales.log_prob;
    for (uint32_t i = 0; scales.entropy != 0.0f && i < terms->width; i++) {
        const double log_p = (double)outputs[i] - total;
        slope->outputs[i] -= scales.entropy * (float)(aq_exact_exp(log_p) * (log_p + entropy));
    }
    return entropy;
}

static void kl_slope(const aq_head_terms *from, const float *from_outputs, const aq_head_terms *to,
                     const float *to_outputs, float scale, const aq_head_slope *slope)
{
    const double from_total = aq_exact_log_sum_exp(from_outputs, from->width);
    const double to_total = aq_exact_log_sum_exp(to_outputs, to->width);
    for (uint32_t i = 0; i < from->width; i++) {
        const double p = aq_exact_exp((double)from_outputs[i] - from_total);
        const double q = aq_exact_exp((double)to_outputs[i] - to_total);
        slope->outputs[i] += scale * (float)(q - p);
    }
}

/* The probability that moves from some choices to others. */
static aq_head_cost cost(const aq_head_terms *terms, const float *exact, const float *outputs)
{
    const double exact_total = aq_exact_log_sum_exp(exact, terms->width);
    const double total = aq_exact_log_sum_exp(outputs, terms->width);
    double moved = 0.0;
    for (uint32_t i = 0; i < terms->width; i++) {
        const double p = aq_exact_exp((double)exact[i] - exact_total);
        const double q = aq_exact_exp((double)outputs[i] - total);
        moved += p > q ? p - q : 0.0;
    }
    return (aq_head_cost){moved, 1.0};
}

static const aq_head_drawing drawing = {
    .noise = AQ_DRAWS_FROM_UNIFORM,
    .noise_count = noise_count,
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
    "    choice = choice < $outputs ? choice : @_greatest(logits);\n"
    "    if (log_prob != NULL) {\n"
    "        *log_prob = (float)((double)logits[choice] - total);\n"
    "    }\n"
    "    return choice;\n"
    "}\n";
/* clang-format on */

static const aq_head_code code = {
    .helpers = {aq_greatest_text},
    .prototype = aq_greatest_prototype,
    .act = aq_greatest_act_text,
    .draw_prototype = draw_prototype,
    .draw = draw_text,
    .keeps_outputs = true,
};

const aq_head aq_head_categorical = {
    .name = "categorical",
    .check = check,
    .act = act,
    .cost = cost,
    .drawing = &drawing,
    .code = &code,
};
