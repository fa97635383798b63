/*
 * The table of the run's settings: one row each, from which the file, the command line, the
 * printed configuration and the documentation are made.
 *
 * Whole numbers are held in doubles while bounds are checked, so none goes past 2^53 - 1.
 */
#include "common/config/run_config.h"

#include "common/experience/batch.h"
#include "common/sys/log.h"

/* The key of a row is the path of its member. A live one may change in a running system; what does
 * it is learner/daemon/configure_call.c. Checkpoints hold what was made with a kept one, so that
 * another value would be refused, misread or of no effect. One that others see, `who`, travels with
 * the run's settings. */
#define MEMBER_OF(type, path, is_live, is_kept, who)                                               \
#path, AQ_SETTING_##type, offsetof(aq_run_config, path), sizeof(((aq_run_config *)0)->path),   \
        is_live, is_kept, who
#define MEMBER(type, path)                MEMBER_OF(type, path, false, false, 0)
#define LIVE_MEMBER(type, path)           MEMBER_OF(type, path, true, false, 0)
#define KEPT_MEMBER(type, path)           MEMBER_OF(type, path, false, true, 0)
#define SEEN_MEMBER(type, path, who)      MEMBER_OF(type, path, false, false, who)
#define LIVE_SEEN_MEMBER(type, path, who) MEMBER_OF(type, path, true, false, who)
#define KEPT_SEEN_MEMBER(type, path, who) MEMBER_OF(type, path, false, true, who)

enum {
    ACTORS = AQ_SEEN_BY_ACTORS,
    EVALUATORS = AQ_SEEN_BY_EVALUATORS,
    SHARDS = AQ_SEEN_BY_SHARDS,
    MEMBERS = AQ_SEEN_BY_MEMBERS,
};

/* What a setting is chosen from, by the lists that make the enums. */
#define CHOICES(list) ((const char *const[]){list(AQ_CHOICE_WORD) NULL})

#define WORD_OF_FORMAT(constant, number, word)             word,
#define WORD_OF_ACTIVATION(constant, number, word, suffix) word,

static const char *const activation_choices[] = {AQ_HIDDEN_ACTIVATIONS(WORD_OF_ACTIVATION) NULL};
static const char *const format_choices[] = {AQ_FORMATS(WORD_OF_FORMAT) NULL};
static const char *const log_level_choices[] = {"as-started", AQ_LOG_LEVELS(AQ_CHOICE_WORD) NULL};

static const aq_setting rows[] = {
    {KEPT_MEMBER(TEXT, task), "gym:CartPole-v1", 1, 0, NULL, "",
     "The environment to learn (env); `actorq envs` lists them."},
    {MEMBER(TEXT, preset), "", 0, 0, NULL, "",
     "What all else begins with: a preset by its name (`actorq train --preset list`), or none, the "
     "defaults. Empty: what suits the task."},
    {MEMBER(U64, seed), "0", 0, 9007199254740991.0, NULL, "",
     "From which parameters, minibatches and noise of updates follow; what is played differs with "
     "each start, too. 0: the system chooses one and says it."},

    {KEPT_MEMBER(CHOICE, learner.algorithm), "auto", 0, 0, aq_algorithm_names, "",
     "How the policy is improved. Discrete actions: dqn is double Q-learning with n-step returns, "
     "r2d2 the same with a memory, c51, rainbow and qr_dqn learn the distribution of the return, "
     "pqn learns without replay; q, sarsa and expected_sarsa learn a table of discrete states. "
     "Continuous ones: d4pg, ddpg, td3 and dsac, which draws. Both: sac, ppo, a2c, reinforce, trpo "
     "and impala, whose policies draw. For data sets: td3_bc, iql and cql. auto takes that of the "
     "task's preset, or else q, dqn, ppo or td3."},
    {KEPT_MEMBER(LIST, learner.hidden), "64,64", 0, 0, NULL, "",
     "All but tables: widths of the hidden layers, separated by commas. An empty text is a linear "
     "network. simba:128x2 is SimBa's: a linear layer, two residual blocks, 128 wide, and a norm."},
    {KEPT_MEMBER(CHOICE, learner.activation), "relu", 0, 0, activation_choices, "",
     "What follows each hidden layer."},
    {KEPT_MEMBER(BOOL, learner.norm), "false", 0, 0, NULL, "",
     "Normalizes what each hidden layer gives, over its width, before the activation."},
    {KEPT_MEMBER(BOOL, learner.dueling), "false", 0, 0, NULL, "",
     "dqn, r2d2, pqn, qr_dqn, c51, rainbow: learns the value of a state and each action's "
     "advantage apart; the network's last layer adds them up."},
    {MEMBER(U64, learner.batch_size), "64", 1, 65536, NULL, "rows",
     "How many sampled returns a learner step averages over; of on-policy and pqn: group_steps."},
    {LIVE_MEMBER(F64, learner.learning_rate), "0.002", 1e-8, 1, NULL, "",
     "Step size of the optimizer."},
    {MEMBER(F64, learner.adam_epsilon), "1e-8", 1e-16, 1, NULL, "",
     "Added to the optimizer's divisor. Larger values damp steps of parameters that rarely move."},
    {MEMBER(F64, learner.discount), "0.99", 0, 1, NULL, "",
     "What a reward is worth one step later (gamma)."},
    {MEMBER(U64, learner.n_step), "3", 1, 64, NULL, "steps",
     "All but on-policy, pqn, tables: rewards added up before the network's own estimate."},
    {MEMBER(U64, learner.target_period), "300", 1, 1e6, NULL, "learner steps",
     "All but on-policy, pqn, tables: how often the target networks become copies of the learned "
     "ones, unless learner.tau is set."},
    {MEMBER(F64, learner.gradient_clip), "10", 0, 1e6, NULL, "",
     "Longest gradient, a norm over all of policy or critic; longer ones are shortened. 0: none."},
    {MEMBER(F64, learner.huber_delta), "1", 1e-6, 1e6, NULL, "",
     "dqn, r2d2, qr_dqn: errors up to this size count squared, larger ones in proportion."},
    {MEMBER(U64, learner.qat_bits), "0", 0, 8, NULL, "bits",
     "Trains the network as it acts when its weights have 2 to 8 bits, and publishes it so. 0 "
     "trains in fp32 and quantizes afterwards."},
    {MEMBER(U64, learner.qat_delay), "0", 0, 1e12, NULL, "learner steps",
     "How long training stays in fp32 before learner.qat_bits begins to count."},
    {MEMBER(U64, learner.threads), "1", 1, 64, NULL, "threads",
     "Threads that a learner step's linear algebra may use. More pay only for wide networks."},
    {MEMBER(U64, learner.prefetch), "4", 1, 64, NULL, "requests",
     "Sample requests kept in flight, so that the learner rarely waits for replay."},
    {MEMBER(U64, learner.batches_per_request), "8", 1, 256, NULL, "batches",
     "Batches that one sample request brings. More of them cost fewer messages, but the last one "
     "is older when it is used."},
    {MEMBER(TEXT, learner.table), "main", 1, 0, NULL, "",
     "The table of replay that batches are drawn from: main, which the settings replay.* describe, "
     "or one of replay.tables."},
    {MEMBER(F64, learner.importance_exponent), "0.4", 0, 1, NULL, "",
     "How far training makes up for prioritized draws, which show some steps more often than they "
     "occur: 0 not at all, 1 fully. Other selectors need no correction."},
    {MEMBER(TEXT, learner.lag_max), "auto", 1, 0, NULL, "versions",
     "How many versions behind the newest a step may be that is learned from. 0: steps are made "
     "when a version is out, and by that one only. Older ones are dropped and counted. Needs "
     "replay.selector queue; none bounds nothing. auto is 0 for algorithms that learn from a queue "
     "of sequences, and none for others. With actor.gradients it is gradients that are dropped, "
     "and auto is none."},
    {MEMBER(U64, learner.group_steps), "0", 0, AQ_BATCH_ROWS_MAX, NULL, "steps",
     "Environment steps that one update learns from, with a queue of sequences. 0 takes "
     "replay.sequence_length from each environment."},
    {LIVE_MEMBER(F64, learner.checkpoint_period_s), "10", 0.1, 86400, NULL, "s",
     "How often a checkpoint is written: the most work that a crash of the learner can cost."},
    {MEMBER(U64, learner.checkpoints_kept), "3", 1, 100, NULL, "files",
     "How many of the newest checkpoints stay on disk."},
    {KEPT_MEMBER(BOOL, learner.norm_first), "false", 0, 0, NULL, "",
     "Normalizes what the first hidden layer gives and follows it with tanh, whatever learner.norm "
     "and learner.activation say, as Acme's networks do."},
    {KEPT_MEMBER(LIST, learner.critic_hidden), "", 0, 0, NULL, "",
     "With a critic, or on-policy: its hidden layers, as learner.hidden. Empty: the same."},
    {KEPT_MEMBER(CHOICE, learner.critic_activation), "relu", 0, 0, activation_choices, "",
     "What follows each hidden layer of a critic, or of an on-policy algorithm's values."},
    {KEPT_MEMBER(BOOL, learner.critic_norm_first), "false", 0, 0, NULL, "",
     "Algorithms with a critic: learner.norm_first, of that."},
    {LIVE_MEMBER(F64, learner.critic_learning_rate), "0", 0, 1, NULL, "",
     "With a critic, or on-policy: step size of its optimizer. 0 takes learner.learning_rate."},
    {LIVE_MEMBER(F64, learner.learning_rate_end), "1", 0, 1, NULL, "",
     "Share of the step sizes that is left when the run comes to limits.env_steps or "
     "limits.learner_steps; they fall to it by learner.learning_rate_schedule. 1 keeps them."},
    {MEMBER(BOOL, learner.double_q), "true", 0, 0, NULL, "",
     "dqn, r2d2, qr_dqn, c51, rainbow: the learned network chooses the next action, the target "
     "network says what it is worth. Otherwise the target network does both."},
    {KEPT_MEMBER(U64, learner.atoms), "51", 2, 1024, NULL, "atoms",
     "c51, rainbow, d4pg, dsac: returns that the learned distribution is made of, evenly spaced "
     "between learner.value_min and learner.value_max."},
    {MEMBER(F64, learner.value_min), "-150", -1e9, 1e9, NULL, "",
     "c51, rainbow, d4pg, dsac: the least discounted return that can be told apart."},
    {MEMBER(F64, learner.value_max), "150", -1e9, 1e9, NULL, "",
     "c51, rainbow, d4pg, dsac: the greatest discounted return that can be told apart."},
    {MEMBER(F64, learner.tau), "0", 0, 1, NULL, "",
     "As learner.target_period: share of the way to the learned networks that the targets go each "
     "step, for td3 each step of the policy. 0 copies them every learner.target_period instead."},
    {MEMBER(U64, learner.policy_delay), "2", 1, 1000, NULL, "learner steps",
     "td3, td3_bc: how often the policy is improved, and with learner.tau the targets follow."},
    {MEMBER(F64, learner.target_noise), "0.2", 0, 2, NULL, "",
     "td3, td3_bc: standard deviation of what is added to the next action before it is judged, as "
     "a share of half the action's range."},
    {MEMBER(F64, learner.target_noise_clip), "0.5", 0, 2, NULL, "",
     "td3, td3_bc: the most that learner.target_noise adds."},
    {MEMBER(F64, learner.action_gradient_clip), "1", 0, 1e6, NULL, "",
     "d4pg and ddpg: longest gradient of the value along one sample's action; a longer one is "
     "shortened. 0 turns it off."},
    {KEPT_MEMBER(BOOL, learner.normalize_obs), "false", 0, 0, NULL, "",
     "Trains on observations less their running mean, divided by their running deviation. The "
     "policy that is broadcast does so itself, in the weights of its first layer, which is fp32 "
     "unless quantizer.layer_formats says otherwise. Bytes are not normalized."},
    {KEPT_MEMBER(BOOL, learner.gsde), "false", 0, 0, NULL, "",
     "On-policy: draws numbers by gSDE (Raffin et al., 2021), noise that depends on the state and "
     "stays for actor.noise_steps, in place of a fresh number each step."},
    {KEPT_MEMBER(F64, learner.deviation), "0.6", 0.01, 7, NULL, "",
     "On-policy, numbers: the standard deviation at first, as a share of half the action's range. "
     "With learner.gsde that of features of 1/2; what comes of it follows from the network."},
    {MEMBER(F64, learner.gae_lambda), "0.95", 0, 1, NULL, "",
     "On-policy and pqn: how far advantages and returns look ahead. 0 trusts the values one step "
     "later, 1 takes rewards alone, as reinforce always does."},
    {MEMBER(U64, learner.epochs), "10", 1, 1000, NULL, "epochs",
     "ppo and pqn: how often an update goes through its steps; trpo: the same, of its values."},
    {MEMBER(U64, learner.minibatches), "4", 1, 65536, NULL, "minibatches",
     "ppo, trpo and pqn: gradient steps of an epoch, among which its steps are shared out."},
    {MEMBER(F64, learner.clip), "0.2", 0.001, 10, NULL, "",
     "ppo: how far the probability of an action may move within an update, as a ratio."},
    {MEMBER(F64, learner.value_clip), "0", 0, 1e9, NULL, "",
     "ppo, trpo: how far values may move from those of the advantages. 0: anywhere."},
    {MEMBER(F64, learner.entropy_weight), "0", 0, 10, NULL, "",
     "On-policy, but not trpo: what a nat of entropy is worth beside an advantage."},
    {MEMBER(F64, learner.kl_max), "0", 0, 100, NULL, "nats",
     "How far an update may go: trpo's trust region, where 0 means 0.01; ppo ends its epochs at "
     "1.5 times it, and 0 turns that off."},
    {MEMBER(F64, learner.mean_noise), "0", 0, 10, NULL, "",
     "ppo, numbers: in updates, means are moved by chance, evenly up to this much of half the "
     "action's range (robust policy optimization). 0 turns it off, as learner.gsde wants it."},
    {MEMBER(BOOL, learner.normalize_advantages), "true", 0, 0, NULL, "",
     "On-policy: brings the advantages of a minibatch to mean 0 and deviation 1."},
    {MEMBER(BOOL, learner.recompute_advantages), "false", 0, 0, NULL, "",
     "ppo, trpo: finds the advantages anew for each epoch, by the values of then."},
    {MEMBER(BOOL, learner.normalize_rewards), "false", 0, 0, NULL, "",
     "On-policy: trains on rewards divided by the running deviation of their discounted sums. "
     "Returns are told as they are."},
    {MEMBER(CHOICE, learner.correction), "clipped", 0, 0, CHOICES(AQ_CORRECTIONS), "",
     "On-policy, not impala: how steps count that a quantized or older policy drew. clipped: by "
     "importance, up to learner.importance_cap; bypass: ratios are to the policy that drew; "
     "vtrace: as impala; none: as if the learner's own policy had drawn them."},
    {MEMBER(F64, learner.importance_cap), "2", 1, 1000, NULL, "",
     "learner.correction=clipped: the greatest weight of a step."},
    {MEMBER(F64, learner.audit_rows), "0.01", 0, 1, NULL, "",
     "Share of the rows whose log-probability is computed again, by the version that drew, and has "
     "to come out the same to the last bit. 0 audits nothing."},
    {MEMBER(U64, learner.cg_steps), "15", 1, 1000, NULL, "steps",
     "trpo: steps of conjugate gradient towards the natural gradient."},
    {MEMBER(F64, learner.cg_damping), "0.1", 0, 100, NULL, "",
     "trpo: what is added to the curvature of the divergence, so that it can be inverted."},
    {KEPT_MEMBER(F64, learner.initial_value), "0", -1e9, 1e9, NULL, "",
     "q, sarsa and expected_sarsa: what every action of every state is thought to be worth at "
     "first. More than can be earned makes whatever was never tried worth a try."},
    {KEPT_MEMBER(BOOL, learner.clipped_double_q), "true", 0, 0, NULL, "",
     "sac, cql: two critics, of which the lesser value counts. false has one, which overrates a "
     "little and dares more."},
    {MEMBER(F64, learner.temperature), "1", 1e-6, 1e6, NULL, "",
     "sac, dsac, cql: what a nat of entropy is worth, alpha, in units of reward; at first, or for "
     "ever without learner.learn_temperature."},
    {MEMBER(BOOL, learner.learn_temperature), "true", 0, 0, NULL, "",
     "sac, dsac, cql: the temperature moves to where the policy has the target entropy, by steps "
     "of learner.learning_rate."},
    {MEMBER(F64, learner.temperature_min), "0", 0, 1e6, NULL, "",
     "sac, dsac, cql: a learned temperature's least. Chance rules where nothing is worth more."},
    {MEMBER(F64, learner.target_entropy), "-1", -20, 0.69, NULL, "nats",
     "sac, dsac, cql: entropy that is aimed at where actions are numbers, for each element, within "
     "+-1. 0.69 is that of chance; one less is a range narrower by a factor of 2.7."},
    {MEMBER(F64, learner.target_entropy_share), "0.3", 0, 1, NULL, "",
     "sac, cql: the same where actions are choices, as a share of chance's."},
    {LIVE_MEMBER(CHOICE, learner.learning_rate_schedule), "linear", 0, 0,
     CHOICES(AQ_RATE_SCHEDULES), "",
     "How step sizes fall to learner.learning_rate_end: in a straight line, or by half a cosine, "
     "which is slow at both ends."},
    {LIVE_MEMBER(U64, learner.learning_rate_warmup), "0", 0, 1e12, NULL, "learner steps",
     "Over so many steps at the start of a run, step sizes grow to what they are."},
    {MEMBER(F64, learner.weight_decay), "0", 0, 1, NULL, "",
     "Share of every parameter that a step takes away, times the step size, apart from the "
     "gradient (AdamW); not of a table, of a temperature, or of what trpo moves by itself."},
    {SEEN_MEMBER(F64, learner.reward_clip, SHARDS), "0", 0, 1e6, NULL, "",
     "Each reward is held between this and its negative where it is learned from; what is stored, "
     "and returns that are told, are as the task gives them. 0 turns it off."},
    {SEEN_MEMBER(F64, learner.reward_scale, SHARDS), "1", 1e-6, 1e6, NULL, "",
     "What each reward counts where it is learned from, after learner.reward_clip. Values, and "
     "learner.value_min and value_max, are in such units."},
    {MEMBER(CHOICE, learner.gradient_format), "fp32", 0, 0, CHOICES(AQ_GRADIENT_FORMATS), "",
     "A learner of several ranks, or actor.gradients: what gradients are sent in. bf16 and int8 "
     "take a half and a quarter of the bytes; what they round off is given with the next one."},
    {MEMBER(CHOICE, learner.rank_rate), "none", 0, 0, CHOICES(AQ_RANK_RATES), "",
     "A learner of several ranks: by what its learning rates are multiplied, as one step averages "
     "over that many batches: the number of ranks (linear), its square root (sqrt), or nothing."},
    {MEMBER(U64, learner.model_ranks), "1", 1, 64, NULL, "ranks",
     "A learner of several ranks: so many share one network, of whose wide layers each has a "
     "slice; several such groups average their gradients. 1: each rank has the whole network."},
    {MEMBER(CHOICE, learner.products), "fp32", 0, 0, CHOICES(AQ_PRODUCT_FORMATS), "",
     "What the numbers of the learner's matrix products are rounded to; sums, parameters and all "
     "else stay in fp32. bf16 takes about half the time of fp32 in wide networks, and needs an AMD "
     "with AVX512-BF16 or an Intel with AMX; on others the learner computes in fp32 and warns. "
     "auto is bf16 where it is there."},
    {MEMBER(BOOL, learner.lag_damping), "false", 0, 0, NULL, "",
     "actor.gradients: divides each step by 1 plus the versions that its parameters are behind."},
    {MEMBER(CHOICE, learner.optimizer), "adam", 0, 0, CHOICES(AQ_OPTIMIZERS), "",
     "What makes steps of gradients. rmsprop divides them by the root of their mean square, "
     "learner.adam_epsilon added to it, without momentum, as A3C does."},
    {MEMBER(TEXT, learner.cpus), "", 0, 0, NULL, "",
     "Processors of this host that `actorq train` starts the learner on, such as 0 or 0,2-3. auto "
     "takes as many as it has threads; an empty text any."},
    {KEPT_MEMBER(LIST, learner.torso), "", 0, 0, NULL, "",
     "Layers before the hidden ones, for observations that are pictures: a list such as "
     "\"conv:32x8/4,conv:64x4/2\", convolutions of 32 filters over 8 x 8 cells in steps of 4, and "
     "so on, with pool:3/2 and residual:16x2 among them; or minatar, nature or impala, the lists "
     "of those papers; or a memory, gru, which is \"gru:64\". An empty text has none."},
    {MEMBER(F64, learner.bc_weight), "0.4", 0, 1e6, NULL, "",
     "td3_bc: what the mean square of the difference between the policy's action and the data's "
     "counts, beside values that are divided by their mean size."},
    {MEMBER(F64, learner.expectile), "0.7", 0.5, 0.999, NULL, "",
     "iql: where a state's value lies, from the mean of its actions' values, 0.5, to the best, 1."},
    {MEMBER(F64, learner.inverse_temperature), "3", 0, 1000, NULL, "",
     "iql: how much more the better of the data's actions are imitated: exp of this times what an "
     "action is worth beyond its state. 0 imitates all alike."},
    {MEMBER(F64, learner.conservative_weight), "1", 0, 1e6, NULL, "",
     "cql: what values of actions in general count against those of the data's."},
    {MEMBER(U64, learner.conservative_actions), "4", 1, 64, NULL, "actions",
     "cql, numbers: so many actions of a state are drawn from their range, and from the policy."},
    {KEPT_MEMBER(U64, learner.quantiles), "25", 1, 1024, NULL, "quantiles",
     "qr_dqn: numbers that each action's return is learned as, evenly spaced in probability."},
    {MEMBER(U64, learner.burn_in), "0", 0, AQ_SEQUENCE_LENGTH_MAX, NULL, "transitions",
     "r2d2: so many steps at the start of a sequence only bring its recorded state up to date."},
    {KEPT_MEMBER(BOOL, learner.rescale_values), "false", 0, 0, NULL, "",
     "r2d2: learns returns by about their square roots, so that large ones need no scale."},
    {KEPT_MEMBER(U64, learner.noisy), "0", 0, AQ_HIDDEN_LAYERS_MAX, NULL, "layers",
     "Of values of actions: so many layers, from the outputs on, are noisy. Their weights have "
     "deviations that are learned, by which actors explore, with noise that each environment keeps "
     "for actor.noise_steps; actor.epsilon_base is 0 then, unless it is set."},
    {KEPT_MEMBER(F64, learner.noisy_deviation), "0.5", 0, 10, NULL, "",
     "learner.noisy: what deviations begin with, times the root of a layer's inputs."},
    {MEMBER(F64, learner.importance_end), "0", 0, 1, NULL, "",
     "To what learner.importance_exponent goes, in a straight line up to limits.env_steps or "
     "limits.learner_steps. 0: it stays."},
    {KEPT_MEMBER(BOOL, learner.critic_norm), "false", 0, 0, NULL, "",
     "Normalizes what each hidden layer of the critic gives, as learner.norm does in other "
     "networks. Of on-policy algorithms, of the network of values."},

    {MEMBER(CHOICE, replay.selector), "uniform", 0, 0, CHOICES(AQ_SELECTORS), "",
     "Which items a batch is drawn from. prioritized prefers those on which the learner was most "
     "wrong, fifo takes the oldest and lifo the newest; queue gives each item once and makes "
     "actors wait when it is full."},
    {MEMBER(F64, replay.priority_exponent), "0.6", 0, 4, NULL, "",
     "In prioritized draws an item's chance is its priority to this power. 0: all are alike."},
    {MEMBER(CHOICE, replay.remover), "fifo", 0, 0, CHOICES(AQ_REMOVERS), "",
     "Which chunk makes room for new ones: the oldest, or the one of the least mean priority."},
    {MEMBER(U64, replay.capacity), "100000", 2, 1e9, NULL, "steps",
     "How many environment steps replay holds (buffer_size), over all shards. Others make room for "
     "new ones, see replay.remover."},
    {MEMBER(U64, replay.capacity_bytes), "0", 0, 1e15, NULL, "bytes",
     "How many bytes of steps replay holds, over all shards. 0 is no bound, as in a queue."},
    {MEMBER(U64, replay.times_sampled_max), "0", 0, 1e9, NULL, "times",
     "An item that was drawn so often is not drawn again. 0 is no bound."},
    {MEMBER(U64, replay.min_size), "1000", 1, 1e9, NULL, "steps",
     "How many steps replay must hold before the learner may start."},
    {MEMBER(F64, replay.samples_per_insert), "32", 0, 1e5, NULL, "items a step",
     "How often each step is learned from, on average. It ties the learner's speed to that of the "
     "actors; the faster one waits. 0 lets both go as fast as they can."},
    {MEMBER(F64, replay.tolerance), "0", 0, 1e9, NULL, "steps",
     "How far, in inserted steps, actors may run ahead of or fall behind the ratio before one side "
     "waits for the other. 0 takes 2000, or more where a chunk from each environment of "
     "actor.count actors, or one request, takes more."},
    {MEMBER(U64, replay.sequence_length), "0", 0, AQ_SEQUENCE_LENGTH_MAX, NULL, "transitions",
     "Items are sequences of so many transitions, for learners that remember. 0 makes n-step items "
     "of learner.n_step."},
    {MEMBER(U64, replay.sequence_period), "1", 1, AQ_SEQUENCE_LENGTH_MAX, NULL, "transitions",
     "A sequence starts every so many transitions of an episode."},
    {MEMBER(TEXT, replay.tables), "", 0, 0, NULL, "",
     "Further tables over the same steps, such as \"recent: selector=lifo capacity=10000; whole: "
     "n_step=1\". What is left out is as in the main table, but such a table keeps no proportion "
     "unless it says samples_per_insert itself."},
    {SEEN_MEMBER(U64, replay.chunk_length, ACTORS | SHARDS), "32", 1, 65536, NULL, "transitions",
     "Longest piece of an episode that is sent and stored as one."},
    {SEEN_MEMBER(U64, replay.shards, SHARDS), "1", 1, AQ_SHARDS_MAX, NULL, "shards",
     "Replay processes that share the experience among them."},
    {SEEN_MEMBER(CHOICE, replay.storage, SHARDS), "segments", 0, 0, CHOICES(AQ_REPLAY_STORAGES), "",
     "Where steps are before they are acknowledged: in segment files, which a restart reads back, "
     "or in memory only."},
    {SEEN_MEMBER(U64, replay.segment_bytes, SHARDS), "67108864", 65536, 4294967296.0, NULL, "bytes",
     "A segment file is closed when it has so many, and deleted once nothing in it is needed."},
    {SEEN_MEMBER(U64, replay.fsync_ms, SHARDS), "1000", 0, 600000, NULL, "ms",
     "How often segment files are synced to the disk: what the end of the machine, not of a "
     "process, may cost. 0 syncs before each acknowledgement."},
    {SEEN_MEMBER(BOOL, replay.compression, SHARDS), "false", 0, 0, NULL, "",
     "Writes records compressed by zstd, where that makes them smaller. Steps in memory are not."},
    {SEEN_MEMBER(U64, replay.memory_bytes, SHARDS), "0", 0, 1e15, NULL, "bytes",
     "How much memory steps may take, over all shards; the oldest are then read from their segment "
     "files. 0 keeps all in memory."},
    {SEEN_MEMBER(U64, replay.snapshot_ms, SHARDS), "10000", 10, 3600000, NULL, "ms",
     "How often priorities, times sampled and the rate limiter's counts are written: what a crash "
     "may cost of them. Steps are not in it."},

    {SEEN_MEMBER(U64, actor.count, ACTORS), "2", 1, 4096, NULL, "actors",
     "Actors that `actorq train` starts, and over which the exploration rates are spread."},
    {SEEN_MEMBER(U64, actor.envs, ACTORS | SHARDS), "8", 1, 4096, NULL, "environments",
     "Environments that each actor steps together (num_envs), in one pass through the network."},
    {LIVE_SEEN_MEMBER(F64, actor.epsilon_base, ACTORS), "0.4", 0, 1, NULL, "",
     "Share of random actions of the actor that explores most, unless its policy draws."},
    {LIVE_SEEN_MEMBER(F64, actor.epsilon_alpha, ACTORS), "7", 0, 100, NULL, "",
     "How steeply the share falls over the environments of all actors: number i of n has "
     "epsilon_base to the power of 1 + epsilon_alpha * i / (n - 1)."},
    {LIVE_SEEN_MEMBER(F64, actor.noise, ACTORS), "0.2", 0, 2, NULL, "",
     "Standard deviation of what is added to each element of a continuous action, as a share of "
     "half its range. Choices are explored by epsilon instead; policies that draw need neither."},
    {SEEN_MEMBER(BOOL, actor.random_first, ACTORS), "false", 0, 0, NULL, "",
     "Draws all actions at random until the first version comes that was trained, so that "
     "replay.min_size steps explore evenly, and not as an untrained network happens to act."},
    {KEPT_SEEN_MEMBER(BOOL, actor.gradients, ACTORS | SHARDS), "false", 0, 0, NULL, "",
     "Actors compute gradients of their own steps, by the parameters that they have, and send "
     "those in place of the steps; the learner follows them as they come. With a2c this is A3C, "
     "with dqn asynchronous n-step Q-learning."},
    {SEEN_MEMBER(U64, actor.flush_ms, ACTORS), "20", 1, 10000, NULL, "ms",
     "Longest time for which an actor holds steps back to fill a chunk, and a finished chunk to "
     "fill a message; so slow environments have shorter chunks than replay.chunk_length."},
    {LIVE_SEEN_MEMBER(CHOICE, actor.noise_ladder, ACTORS), "constant", 0, 0,
     CHOICES(AQ_NOISE_LADDERS), "",
     "How actor.noise is spread over the environments of all actors: the same in each, or uniform, "
     "in even steps from 0 to actor.noise, as in the ActorQ paper."},
    {SEEN_MEMBER(U64, actor.noise_steps, ACTORS), "4", 1, 1000000, NULL, "steps",
     "With learner.gsde or learner.noisy, and for sac, dsac and cql where actions are numbers: for "
     "so many steps an environment keeps its noise."},
    {SEEN_MEMBER(U64, actor.noise_octaves, ACTORS), "1", 1, 20, NULL, "",
     "Noise that is kept for actor.noise_steps is a sum of so many numbers, each kept twice as "
     "long as the one before. One step and 10 octaves are pink noise."},
    {LIVE_SEEN_MEMBER(F64, actor.explore_end, ACTORS), "1", 0, 1, NULL, "",
     "Share of epsilon and noise that is left from learner step actor.explore_steps on; they fall "
     "to it in a straight line, version by version. 1 keeps them as they are."},
    {LIVE_SEEN_MEMBER(U64, actor.explore_steps, ACTORS), "0", 0, 1e12, NULL, "learner steps",
     "How long epsilon and noise take to fall to actor.explore_end. The learner takes "
     "replay.samples_per_insert steps for learner.batch_size of the environments'."},
    {MEMBER(TEXT, actor.cpus), "", 0, 0, NULL, "",
     "The same for the actors, the evaluator and the replay shards. auto takes those that the "
     "learner leaves; where it leaves none, nobody is held to any."},

    {LIVE_SEEN_MEMBER(U64, evaluator.screen_episodes, EVALUATORS), "10", 1, 10000, NULL, "episodes",
     "Greedy episodes with which each policy is tried first. As many fresh ones follow, of it if "
     "it leads, else of the best one, and only these say which is the best."},
    {LIVE_SEEN_MEMBER(U64, evaluator.episodes, EVALUATORS), "200", 1, 10000, NULL, "episodes",
     "Fresh greedy episodes that confirm what passed the first trial; one alone solves nothing."},
    {LIVE_MEMBER(TEXT, evaluator.threshold), "auto", 1, 0, NULL, "",
     "Mean return from which the task counts as solved and the run ends. auto takes the "
     "environment's own, if it has one."},
    {LIVE_SEEN_MEMBER(F64, evaluator.share, EVALUATORS), "0.1", 0.001, 1, NULL, "",
     "Share of the time of one processor that an evaluator may take. It begins with what it may "
     "take of 100 seconds, so that short runs are watched closely; when that is spent, each "
     "evaluation is followed by a pause. 1 never pauses."},
    {LIVE_SEEN_MEMBER(BOOL, evaluator.fp32, EVALUATORS), "false", 0, 0, NULL, "",
     "Plays the episodes of each screening once more under the fp32 weights of the same version, "
     "and keeps the difference of their returns."},

    {MEMBER(CHOICE, quantizer.format), "int8", 0, 0, format_choices, "",
     "How the weights of the broadcast policy are stored (precision). fp32 sends them as they are; "
     "int8 has a scale for each output, int8-tensor one for a layer, int4 and int2 one for 64 "
     "weights, and int8-sparse stores only the blocks of weights that matter most."},
    {MEMBER(LIST, quantizer.layer_formats), "", 0, 0, NULL, "",
     "Layers of another format, such as \"0:fp32,-1:bf16\": the first in fp32, the last in bf16. "
     "Linear layers (noisy ones once), convolutions and GRUs count; others are fp32. By default "
     "the first is fp32 with learner.normalize_obs, or bf16 for algorithms of continuous actions "
     "if it is linear and quantizer.format is of integers; the last is fp32 for those that draw."},
    {MEMBER(U64, quantizer.bits), "8", 2, 8, NULL, "bits",
     "Of the levels that int8 and int8-tensor use; learner.qat_bits, where set, takes its place."},
    {MEMBER(CHOICE, quantizer.formula), "symmetric", 0, 0, CHOICES(AQ_QUANTIZER_FORMULAS), "",
     "How int8-tensor chooses levels: around zero, or over the weights' range, as in the paper."},
    {MEMBER(F64, quantizer.density), "0.5", 0.01, 1, NULL, "",
     "Share of its blocks that int8-sparse stores of each layer."},
    {MEMBER(CHOICE, quantizer.activations), "dynamic", 0, 0, CHOICES(AQ_QUANTIZER_ACTIVATIONS), "",
     "How the inputs of integer layers are quantized: by the range of each row when it is there, "
     "or by a range that was observed before; behind a GRU always the first."},
    {MEMBER(CHOICE, quantizer.ranges), "moving-average", 0, 0, CHOICES(AQ_RANGE_METHODS), "",
     "Which range quantizer.activations static takes: the recent mean of the extremes, the "
     "extremes ever seen, or the recent mean without the outermost thousandth on each side."},
    {LIVE_MEMBER(U64, quantizer.publish_period), "100", 1, 1e6, NULL, "learner steps",
     "How often a new version of the policy is broadcast. On-policy and pqn: after each update."},
    {LIVE_MEMBER(U64, quantizer.full_period), "32", 1, 1e6, NULL, "versions",
     "How often a version is broadcast in full; those between are sent as changes of the one "
     "before. 1 sends all in full."},
    {LIVE_MEMBER(F64, quantizer.error_budget), "0.25", 0, 1, NULL, "",
     "What quantizing may cost of what is at stake: the value that greedy choices lose, as fp32 "
     "sees it, of what choices by chance would lose; of policies that draw, the probability that "
     "moves; of other continuous actions, their error as a share of the range. A version past it "
     "is published in fp32 instead, and is not taken for the run's result. 1 allows anything."},
    {MEMBER(U64, quantizer.error_rows), "256", 1, 4096, NULL, "rows",
     "Recent observations on which that cost is measured; the first 32 of them where these show "
     "that it is far from the budget."},

    {LIVE_MEMBER(U64, limits.env_steps), "500000", 0, 1e12, NULL, "steps",
     "The run ends after at least so many environment steps (steps, total_timesteps): those that "
     "are under way then count, too. 0 is no limit."},
    {LIVE_MEMBER(U64, limits.learner_steps), "0", 0, 1e12, NULL, "steps",
     "The run ends after at least this many gradient steps, solved or not. 0 is no limit."},
    {LIVE_MEMBER(F64, limits.wall_s), "0", 0, 1e7, NULL, "s",
     "The run ends after this time, solved or not. 0 is no limit."},

    {SEEN_MEMBER(U64, net.message_bytes, ACTORS | SHARDS), "262144", 4096, AQ_MESSAGE_BYTES_MAX,
     NULL, "bytes",
     "Largest experience message; more where a chunk of steps, or a gradient, takes more. A larger "
     "one from a peer closes its connection."},
    {SEEN_MEMBER(U64, net.heartbeat_ms, MEMBERS), "500", 10, 60000, NULL, "ms",
     "How often each member of the run tells the learner that it is there."},
    {MEMBER(U64, net.member_timeout_ms), "3000", 100, 600000, NULL, "ms",
     "A member that was not heard of for this long counts as gone."},
    {SEEN_MEMBER(U64, net.reconnect_min_ms, MEMBERS), "50", 1, 60000, NULL, "ms",
     "Pause before a lost connection, or a failed call, is tried again; it doubles with every "
     "failure. Connections to the learner have 50 ms, on the same host 10 ms at most."},
    {SEEN_MEMBER(U64, net.reconnect_max_ms, MEMBERS), "2000", 1, 600000, NULL, "ms",
     "Longest such pause; connections to the learner have 2000 ms, on the same host 1000 ms."},
    {SEEN_MEMBER(U64, net.rpc_timeout_ms, MEMBERS), "2000", 10, 600000, NULL, "ms",
     "How long a call waits for its answer before it counts as failed."},
    {MEMBER(U64, net.rank_timeout_ms), "10000", 100, 600000, NULL, "ms",
     "A learner of several ranks: how long they wait for one that is silent before the learner "
     "ends, to be started again."},

    {MEMBER(BOOL, log.tensorboard), "true", 0, 0, NULL, "",
     "Writes the metrics into events.out.tfevents.* of the run folder, for TensorBoard."},
    {MEMBER(BOOL, log.csv), "true", 0, 0, NULL, "",
     "Writes the metrics into metrics.csv of the run folder, for spreadsheets and data frames."},
    {MEMBER(CHOICE, log.step), "env_steps", 0, 0, CHOICES(AQ_LOG_STEPS), "",
     "What TensorBoard shows as steps."},
    {LIVE_SEEN_MEMBER(CHOICE, log.level, MEMBERS), "as-started", 0, 0, log_level_choices, "",
     "The least level of the lines that the run's daemons log. as-started leaves to each what it "
     "was started with: --log-level, ACTORQ_LOG, or else info."},

    {MEMBER(F64, energy.tdp_w), "0", 0, 1e5, NULL, "W",
     "What the processors of each machine take together at full load, for the model that counts "
     "where nothing can be measured. 0 goes by their name, or takes 4 W for each."},
    {MEMBER(TEXT, energy.country), "WORLD", 1, 0, NULL, "",
     "Whose electricity it is: three letters of ISO 3166, such as DEU, or WORLD for the mean of "
     "all; docs/energy.md lists them."},
    {MEMBER(F64, energy.carbon_intensity), "0", 0, 1e5, NULL, "gCO2/kWh",
     "Carbon intensity of the electricity, for places that are not in the table or a tariff of "
     "one's own. 0 takes energy.country's."},
    {MEMBER(F64, energy.pue), "1", 1, 10, NULL, "",
     "Power usage effectiveness: what the building takes for each joule of its machines, cooling "
     "included. It counts for carbon, not for joules."},
};

const aq_settings_table *aq_run_config_table(void)
{
    static const aq_settings_table table = {rows, sizeof(rows) / sizeof(rows[0])};
    return &table;
}
