/*
 * Run configuration: everything that a person can set about a run, as one plain struct that mirrors
 * the sections of the file. The learner and the command line read all of it; the members of a run
 * are told the settings that their rows say they see (run_settings.h), and read them here, too.
 *
 * A default, bounds, unit and explanation of each member is one row of the table.
 */
#ifndef AQ_COMMON_CONFIG_RUN_CONFIG_H
#define AQ_COMMON_CONFIG_RUN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/choice.h"
#include "common/base/error.h"
#include "common/config/algorithm_rows.h"
#include "common/config/table_spec.h"
#include "common/policy/range_method.h"
#include "common/policy/snapshot.h"
#include "common/settings/settings.h"

#define AQ_REPLAY_STORAGES(X) X(AQ_STORAGE_SEGMENTS, "segments") X(AQ_STORAGE_MEMORY, "memory")
enum aq_replay_storage { AQ_REPLAY_STORAGES(AQ_CHOICE_CONSTANT) };

#define AQ_NOISE_LADDERS(X) X(AQ_NOISE_CONSTANT, "constant") X(AQ_NOISE_UNIFORM, "uniform")
enum aq_noise_ladder { AQ_NOISE_LADDERS(AQ_CHOICE_CONSTANT) };

#define AQ_QUANTIZER_FORMULAS(X) X(AQ_FORMULA_SYMMETRIC, "symmetric") X(AQ_FORMULA_PAPER, "paper")
enum aq_quantizer_formula { AQ_QUANTIZER_FORMULAS(AQ_CHOICE_CONSTANT) };

#define AQ_QUANTIZER_ACTIVATIONS(X)                                                                \
    X(AQ_ACTIVATIONS_DYNAMIC, "dynamic")                                                           \
    X(AQ_ACTIVATIONS_STATIC, "static")
enum aq_quantizer_activations { AQ_QUANTIZER_ACTIVATIONS(AQ_CHOICE_CONSTANT) };

#define AQ_CORRECTIONS(X)                                                                          \
    X(AQ_CORRECTION_NONE, "none")                                                                  \
    X(AQ_CORRECTION_CLIPPED, "clipped")                                                            \
    X(AQ_CORRECTION_BYPASS, "bypass")                                                              \
    X(AQ_CORRECTION_VTRACE, "vtrace")
enum aq_correction { AQ_CORRECTIONS(AQ_CHOICE_CONSTANT) };

#define AQ_RATE_SCHEDULES(X) X(AQ_RATE_LINEAR, "linear") X(AQ_RATE_COSINE, "cosine")
enum aq_rate_schedule { AQ_RATE_SCHEDULES(AQ_CHOICE_CONSTANT) };

#define AQ_OPTIMIZERS(X) X(AQ_OPTIMIZER_ADAM, "adam") X(AQ_OPTIMIZER_RMSPROP, "rmsprop")
enum aq_optimizer_choice { AQ_OPTIMIZERS(AQ_CHOICE_CONSTANT) };

#define AQ_GRADIENT_FORMATS(X)                                                                     \
    X(AQ_GRADIENT_FP32, "fp32") X(AQ_GRADIENT_BF16, "bf16") X(AQ_GRADIENT_INT8, "int8")
enum aq_gradient_format { AQ_GRADIENT_FORMATS(AQ_CHOICE_CONSTANT) };

#define AQ_PRODUCT_FORMATS(X)                                                                      \
    X(AQ_PRODUCTS_FP32, "fp32") X(AQ_PRODUCTS_BF16, "bf16") X(AQ_PRODUCTS_AUTO, "auto")
enum aq_product_format { AQ_PRODUCT_FORMATS(AQ_CHOICE_CONSTANT) };

#define AQ_RANK_RATES(X)                                                                           \
    X(AQ_RANK_RATE_NONE, "none") X(AQ_RANK_RATE_SQRT, "sqrt") X(AQ_RANK_RATE_LINEAR, "linear")
enum aq_rank_rate { AQ_RANK_RATES(AQ_CHOICE_CONSTANT) };

#define AQ_LOG_STEPS(X) X(AQ_LOG_STEP_ENV, "env_steps") X(AQ_LOG_STEP_LEARNER, "learner_steps")
enum aq_log_step { AQ_LOG_STEPS(AQ_CHOICE_CONSTANT) };

/* aq_setting.seen_by: which members of the run work under a setting. */
enum aq_seen_by {
    AQ_SEEN_BY_ACTORS = 1,
    AQ_SEEN_BY_EVALUATORS = 2,
    AQ_SEEN_BY_SHARDS = 4,
    AQ_SEEN_BY_MEMBERS = 8, /* all, for how they call and what they log */
};

enum {
    AQ_RUN_TEXT_MAX = 256,
    AQ_TABLES_TEXT_MAX = 1024,
    AQ_HIDDEN_LAYERS_MAX = 15,
    AQ_SIMBA_BLOCKS_MAX = 3,
    AQ_SIMBA_WIDER = 4 /* the inner layer of a block, than the block */
};

/* Hidden layers, as learner.hidden writes them: "256,128", or SimBa's, "simba:128x2". */
typedef struct aq_hidden_shape {
    uint32_t count; /* of widths; 0: none */
    uint32_t widths[AQ_HIDDEN_LAYERS_MAX];
    uint32_t blocks; /* residual ones, of the only width; 0: plain layers */
} aq_hidden_shape;

/* The greatest net.message_bytes. */
#define AQ_MESSAGE_BYTES_MAX (UINT64_C(64) << 20)

/* A task's option, by which a run sees a discrete state as one of many. */
#define AQ_ONE_HOT "one_hot"

typedef struct aq_run_config {
    char task[AQ_TASK_NAME_MAX];
    char
        preset[AQ_RUN_TEXT_MAX]; /* what the rest begins with; "": the task's own, not yet chosen */
    uint64_t seed;               /* 0: the system chooses one */

    struct {
        uint32_t algorithm; /* enum aq_algorithm */
        char hidden[AQ_RUN_TEXT_MAX];
        uint32_t activation; /* a choice; see aq_run_config_activation */
        bool norm;
        bool dueling;
        uint64_t batch_size;
        double learning_rate;
        double adam_epsilon;
        double discount;
        uint64_t n_step;
        uint64_t target_period; /* learner steps */
        double gradient_clip;   /* 0: off */
        double huber_delta;
        uint64_t qat_bits;  /* 0: off */
        uint64_t qat_delay; /* learner steps */
        uint64_t threads;
        uint64_t prefetch; /* sample requests in flight */
        uint64_t batches_per_request;
        char table[AQ_TABLE_NAME_MAX]; /* that batches are drawn from */
        double importance_exponent;    /* 0: draws are not corrected */
        char lag_max[16];              /* see aq_pacing_lag */
        uint64_t group_steps;          /* see aq_pacing_group_steps */
        double checkpoint_period_s;
        uint64_t checkpoints_kept;
        bool norm_first;
        char critic_hidden[AQ_RUN_TEXT_MAX]; /* see aq_run_config_critic_hidden */
        uint32_t critic_activation;          /* see aq_run_config_critic_activation */
        bool critic_norm_first;
        double critic_learning_rate; /* 0: learning_rate */
        double learning_rate_end;    /* a share of both; 1: they stay */
        bool double_q;
        uint64_t atoms;
        double value_min;
        double value_max;
        double tau;                  /* 0: the target is copied every target_period */
        uint64_t policy_delay;       /* learner steps */
        double target_noise;         /* a share of half the action's range, as actor.noise */
        double target_noise_clip;    /* likewise */
        double action_gradient_clip; /* 0: off */
        bool normalize_obs;
        bool gsde;        /* state-dependent exploration, of algorithms that draw numbers */
        double deviation; /* of what is drawn, at first */
        double gae_lambda;
        uint64_t epochs;
        uint64_t minibatches;
        double clip;
        double value_clip; /* 0: off */
        double entropy_weight;
        double kl_max;     /* 0: no bound */
        double mean_noise; /* 0: off */
        bool normalize_advantages;
        bool recompute_advantages;
        bool normalize_rewards;
        uint32_t correction; /* enum aq_correction */
        double importance_cap;
        double audit_rows; /* a share */
        uint64_t cg_steps;
        double cg_damping;
        double initial_value; /* of every cell of a table */
        bool clipped_double_q;
        double temperature; /* the first, or for ever */
        bool learn_temperature;
        double temperature_min;          /* of one that is learned */
        double target_entropy;           /* nats, of each element of a continuous action */
        double target_entropy_share;     /* of the most that choices can have */
        uint32_t learning_rate_schedule; /* enum aq_rate_schedule */
        uint64_t learning_rate_warmup;   /* learner steps */
        double weight_decay;
        double reward_clip;       /* 0: off */
        double reward_scale;      /* of what is left of it */
        uint32_t gradient_format; /* enum aq_gradient_format */
        uint32_t rank_rate;       /* enum aq_rank_rate */
        uint64_t model_ranks;     /* that share one network */
        uint32_t products;        /* enum aq_product_format */
        bool lag_damping;
        uint32_t optimizer;          /* enum aq_optimizer_choice */
        char cpus[AQ_RUN_TEXT_MAX];  /* see cli/launch/run_cpus.h */
        char torso[AQ_RUN_TEXT_MAX]; /* see common/policy/torso.h */
        double bc_weight;
        double expectile;
        double inverse_temperature; /* of advantages, in units of reward */
        double conservative_weight;
        uint64_t conservative_actions; /* of a row, of the range and of the policy each */
        uint64_t quantiles;
        uint64_t burn_in; /* transitions of a sequence */
        bool rescale_values;
        uint64_t noisy;         /* layers, from the outputs on; 0: none */
        double noisy_deviation; /* of their weights at first, times the root of their inputs */
        double importance_end;  /* of importance_exponent; 0: it stays */
        bool critic_norm;
    } learner;

    struct {               /* sizes are of all shards together */
        uint32_t selector; /* enum aq_selector */
        double priority_exponent;
        uint32_t remover;           /* enum aq_remover */
        uint64_t capacity;          /* steps */
        uint64_t capacity_bytes;    /* 0: no bound */
        uint64_t times_sampled_max; /* 0: no bound */
        uint64_t min_size;          /* steps */
        double samples_per_insert;  /* sampled items a step; 0: none is kept */
        double tolerance;           /* steps, of each shard; 0: as many as the run needs */
        uint64_t sequence_length;   /* transitions; 0: n-step items */
        uint64_t sequence_period;   /* transitions */
        char tables[AQ_TABLES_TEXT_MAX];
        uint64_t chunk_length; /* transitions */
        uint64_t shards;
        uint32_t storage;       /* enum aq_replay_storage */
        uint64_t segment_bytes; /* of one file */
        uint64_t fsync_ms;      /* 0: before each acknowledgement */
        bool compression;
        uint64_t memory_bytes; /* 0: no bound */
        uint64_t snapshot_ms;
    } replay;

    struct {
        uint64_t count;
        uint64_t envs; /* of each actor */
        double epsilon_base;
        double epsilon_alpha;
        double noise; /* of continuous actions, a share of half their range */
        bool random_first;
        bool gradients; /* they send gradients, in place of steps (gradient_rows.h) */
        uint64_t flush_ms;
        uint32_t noise_ladder;  /* enum aq_noise_ladder */
        uint64_t noise_steps;   /* for which a head that holds noise has the same */
        uint64_t noise_octaves; /* of such noise (draw_source.h) */
        double explore_end;     /* a share of epsilon and noise; 1: they stay */
        uint64_t explore_steps; /* learner steps */
        char cpus[AQ_RUN_TEXT_MAX];
    } actor;

    struct {
        uint64_t screen_episodes;
        uint64_t episodes;
        char threshold[AQ_RUN_TEXT_MAX]; /* see aq_run_config_threshold */
        double share;                    /* of the time of one processor */
        bool fp32;
    } evaluator;

    struct {
        uint32_t format;                     /* a choice; see aq_run_config_format */
        char layer_formats[AQ_RUN_TEXT_MAX]; /* see common/policy/layer_formats.h */
        uint64_t bits;
        uint32_t formula; /* enum aq_quantizer_formula */
        double density;
        uint32_t activations;    /* enum aq_quantizer_activations */
        uint32_t ranges;         /* a choice; see aq_run_config_range_method */
        uint64_t publish_period; /* learner steps */
        uint64_t full_period;    /* versions */
        double error_budget;     /* of aq_quant_error.cost, 0 to 1 */
        uint64_t error_rows;
    } quantizer;

    struct {
        uint64_t env_steps;
        uint64_t learner_steps; /* 0: none */
        double wall_s;          /* 0: none */
    } limits;

    struct {
        uint64_t message_bytes;
        uint64_t heartbeat_ms;
        uint64_t member_timeout_ms;
        uint64_t reconnect_min_ms;
        uint64_t reconnect_max_ms;
        uint64_t rpc_timeout_ms;
        uint64_t rank_timeout_ms;
    } net;

    struct {
        bool tensorboard;
        bool csv;
        uint32_t step;  /* enum aq_log_step */
        uint32_t level; /* one more than enum aq_log_level; 0: as each was started */
    } log;

    struct {
        double tdp_w;            /* of a machine's processors; 0: by their name */
        char country[8];         /* of carbon_intensity.h */
        double carbon_intensity; /* gCO2/kWh; 0: the country's */
        double pue;
    } energy;
} aq_run_config;

/* Static storage. */
const aq_settings_table *aq_run_config_table(void);

/* Its row of that key, which must be there. */
const aq_setting *aq_run_config_row(const char *key);

/* What each of replay.shards has of `total`, rounded up so that nothing becomes 0. */
uint64_t aq_run_config_shard_share(const aq_run_config *config, uint64_t total);

/* Where nobody chose learner.algorithm, it becomes the one for the task's actions. */
void aq_run_config_choose_algorithm(aq_run_config *config, const aq_schema *schema);

/* learner.hidden as numbers: none for an empty text, else up to AQ_HIDDEN_LAYERS_MAX widths of 1 to
 * AQ_NET_WIDTH_MAX, or up to AQ_SIMBA_BLOCKS_MAX blocks whose inner layers are not wider than that.
 * AQ_E_INVALID for a text that isn't that. */
int aq_run_config_hidden(const aq_run_config *config, aq_hidden_shape *ret_shape) AQ_MUST_USE;

/* The same of learner.critic_hidden; an empty text is learner.hidden. */
int aq_run_config_critic_hidden(const aq_run_config *config,
                                aq_hidden_shape *ret_shape) AQ_MUST_USE;

/* evaluator.threshold as a number: for "auto", the environment's own `reward_threshold`, which is
 * NaN for one that has none. AQ_E_INVALID for a text that is neither "auto" nor a number. */
int aq_run_config_threshold(const aq_run_config *config, double reward_threshold,
                            double *ret_threshold) AQ_MUST_USE;

enum aq_activation aq_run_config_activation(const aq_run_config *config);
enum aq_activation aq_run_config_critic_activation(const aq_run_config *config);
enum aq_format aq_run_config_format(const aq_run_config *config);
enum aq_range_method aq_run_config_range_method(const aq_run_config *config);

#endif
