/*
 * An exported policy on a board that QEMU simulates (Arm's MPS2): how many instructions a call
 * takes, and how deep its stack goes. microcontrollers.py compiles it with the policy and runs it.
 *
 * QEMU, told to, lets each instruction take one nanosecond, and the system timer counts the board's
 * 25 MHz: a tick is 40 instructions. So instructions are what is measured, not cycles. The stack is
 * painted before a call and looked at behind it.
 *
 * INPUTS, ELEMENTS (of an action) and IS_BOX are the build's.
 */
#include <stdint.h>

#if IS_BOX
void policy_act(const float *obs, float *action);
#else
uint32_t policy_act(const float *obs);
#endif

enum {
    INSTRUCTIONS_A_TICK = 40,
    PAINT = 0x5a5a5a5a,
    TIMER_MAX = 0xffffff, /* 671 million instructions; a call takes fewer */
    HOST_WRITE = 0x04,
    HOST_EXIT = 0x18,
    HOST_EXIT_FINE = 0x20026,
};

static volatile uint32_t *const timer_control = (volatile uint32_t *)0xe000e010;
static volatile uint32_t *const timer_reload = (volatile uint32_t *)0xe000e014;
static volatile uint32_t *const timer_now = (volatile uint32_t *)0xe000e018;
static volatile uint32_t *const coprocessors = (volatile uint32_t *)0xe000ed88;

extern uint32_t stack_low[], stack_high[]; /* board.ld */
void begin(void);

static float obs[INPUTS];
static float action[ELEMENTS];
static volatile uint32_t choice;

/* A service of the simulator's. */
static void host(uint32_t what, const void *of)
{
    register uint32_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = of;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(const char *label, uint32_t number)
{
    char digits[12];
    char *at = digits + sizeof(digits) - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    host(HOST_WRITE, label);
    host(HOST_WRITE, at);
    host(HOST_WRITE, "\n");
}

__attribute__((noinline)) static void act(void)
{
#if IS_BOX
    policy_act(obs, action);
    choice = action[0] > 0.0f;
#else
    choice = policy_act(obs);
    action[0] = (float)choice;
#endif
}

static uint32_t instructions_of_a_call(void)
{
    *timer_control = 0;
    *timer_reload = TIMER_MAX;
    *timer_now = 0;
    *timer_control = 5; /* the processor's clock, and on */
    const uint32_t before = *timer_now;
    act();
    return ((before - *timer_now) & TIMER_MAX) * INSTRUCTIONS_A_TICK;
}

/* From what is in use here down to the last word that a call has changed. */
static uint32_t stack_of_a_call(void)
{
    const uint32_t *here = __builtin_frame_address(0);
    uint32_t *at = stack_low;
    for (uint32_t *paint = stack_low; paint < here - 16; paint++) { /* this may push some, too */
        *paint = PAINT;
    }
    act();
    while (*at == PAINT) {
        at++;
    }
    return (uint32_t)(here - at) * 4;
}

void begin(void)
{
#ifdef __ARM_FP
    *coprocessors |= 0xfu << 20; /* the unit for floats is off at first */
    __asm__ volatile("dsb\nisb");
#endif
    for (int i = 0; i < INPUTS; i++) {
        obs[i] = 0.25f * (float)(i % 7) - 0.7f;
    }
    print("instructions ", instructions_of_a_call());
    print("stack ", stack_of_a_call());
    host(HOST_EXIT, (const void *)HOST_EXIT_FINE);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    stack_high, (const void *)begin};
