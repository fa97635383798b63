/*
 * Runs an exported policy over observations from standard input: for each, the network's outputs
 * and the action go to standard output. Compiled together with the exported file, for this machine
 * or, with arm_start.c, for a microcontroller; so it uses nothing but read and write.
 *
 * INPUTS, OUTPUTS, ELEMENTS (of an action) and IS_BOX are the build's.
 */
#include <stdint.h>
#include <unistd.h>

void policy_forward(const float *obs, float *out);
#if IS_BOX
void policy_act(const float *obs, float *action);
typedef float action[ELEMENTS];
#else
uint32_t policy_act(const float *obs);
typedef uint32_t action[1];
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
        policy_forward(obs, out);
#if IS_BOX
        policy_act(obs, chosen);
#else
        chosen[0] = policy_act(obs);
#endif
        if (!write_row(out, sizeof(out)) || !write_row(chosen, sizeof(chosen))) {
            return 1;
        }
    }
    return 0;
}
