/*
 * Runs an exported policy over rows from standard input, an observation and the random words of a
 * draw: for each, the network's outputs, the greedy action, and if it draws what is drawn and how
 * likely that is go to standard output. Compiled together with the exported file, for this machine
 * or, with arm_start.c, for a microcontroller; so it uses nothing but read and write.
 *
 * INPUTS, OUTPUTS, ELEMENTS (of an action), IS_BOX, IS_ROW of choices, NOISE, the numbers of a draw
 * or 0, and STATE, what it keeps from row to row, are the build's.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if STATE > 0
void policy_forward(const float *obs, float *state, float *out);
uint32_t policy_act(const float *obs, float *state);
static float state[STATE], before[STATE];
#define WITH_STATE obs, state
typedef uint32_t action[1];
#else
void policy_forward(const float *obs, float *out);
#define WITH_STATE obs
#if IS_BOX
void policy_act(const float *obs, float *action);
void policy_draw(const float *obs, const float *noise, float *action, float *log_prob);
float policy_normal(const uint32_t words[4]);
typedef float action[ELEMENTS];
#elif IS_ROW
void policy_act(const float *obs, int32_t *action);
void policy_draw(const float *obs, const float *random, int32_t *action, float *log_prob);
typedef int32_t action[ELEMENTS];
#else
uint32_t policy_act(const float *obs);
uint32_t policy_draw(const float *obs, float random, float *log_prob);
typedef uint32_t action[1];
#endif
#endif

#if NOISE > 0
static uint32_t words[NOISE][4];
typedef struct drawn {
    action drawn, again; /* with and without its probability */
    float log_prob;
} drawn;

static void draw(const float *obs, drawn *ret)
{
#if IS_BOX || IS_ROW
    static float noise[NOISE];
    for (uint32_t i = 0; i < NOISE; i++) {
#if IS_BOX
        noise[i] = policy_normal(words[i]);
#else
        noise[i] = (float)(words[i / 4][i % 4] >> 8) * 0x1p-24f;
#endif
    }
    policy_draw(obs, noise, ret->drawn, &ret->log_prob);
    policy_draw(obs, noise, ret->again, NULL);
#else
    const float random = (float)(words[0][0] >> 8) * 0x1p-24f;
    ret->drawn[0] = policy_draw(obs, random, &ret->log_prob);
    ret->again[0] = policy_draw(obs, random, NULL);
#endif
}
#endif

/* All of it, or nothing at the end of the input. */
static int read_row(void *row, unsigned size)
{
    unsigned have = 0;
    while (have < size) {
        const long got = read(0, (char *)row + have, size - have);
        if (got <= 0) {
            return 0;
        }
        have += (unsigned)got;
    }
    return 1;
}

static int write_row(const void *row, unsigned size)
{
    unsigned done = 0;
    while (done < size) {
        const long put = write(1, (const char *)row + done, size - done);
        if (put <= 0) {
            return 0;
        }
        done += (unsigned)put;
    }
    return 1;
}

int main(void)
{
    float obs[INPUTS];
    float out[OUTPUTS];
    action chosen;
    while (read_row(obs, sizeof(obs))) {
#if STATE > 0
        memcpy(before, state, sizeof(state));
#endif
        policy_forward(WITH_STATE, out);
#if STATE > 0
        memcpy(state, before, sizeof(state)); /* the same step again */
#endif
#if IS_BOX || IS_ROW
        policy_act(obs, chosen);
#else
        chosen[0] = policy_act(WITH_STATE);
#endif
        if (!write_row(out, sizeof(out)) || !write_row(chosen, sizeof(chosen))) {
            return 1;
        }
#if NOISE > 0
        drawn result;
        if (!read_row(words, sizeof(words))) {
            return 1;
        }
        draw(obs, &result);
        if (!write_row(&result, sizeof(result))) {
            return 1;
        }
#endif
    }
    return 0;
}
