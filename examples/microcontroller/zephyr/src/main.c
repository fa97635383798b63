/*
 * Balances a pole with a policy that ActorQ exported, under Zephyr. See ../../README.md.
 */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include <pole.h>
#include <policy.h>

int main(void)
{
    static const pole start = {.state = {0.0f, 0.0f, 0.02f, 0.0f}};
    pole cart = start;
    for (uint32_t steps = 1;; steps++) {
        const uint32_t before = k_cycle_get_32();
        const uint32_t push = policy_act(cart.state);
        const uint32_t cycles = k_cycle_get_32() - before;
        pole_step(&cart, push);
        if (steps % 50 == 0) {
            printk("%u steps, the policy takes %u cycles\n", (unsigned)steps, (unsigned)cycles);
        }
        if (pole_fell(&cart)) {
            printk("the pole fell after %u steps\n", (unsigned)steps);
            cart = start;
            steps = 0;
        }
        k_msleep(POLE_STEP_MS);
    }
    return 0;
}
