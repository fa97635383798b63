/*
 * Balances a pole with a policy that ActorQ exported, for the Arduino IDE and PlatformIO. See
 * ../README.md. The policy is policy.c and policy.h beside this file; nothing else of ActorQ is needed.
 */
#include "policy.h"
#include "pole.h"

static pole cart;
static unsigned long next_ms;
static unsigned steps;

static void begin_again()
{
    cart = pole();
    cart.state[2] = 0.02f;
    steps = 0;
}

void setup()
{
    Serial.begin(115200);
    begin_again();
    next_ms = millis();
}

void loop()
{
    const unsigned long began_us = micros();
    const uint32_t push = policy_act(cart.state);
    const unsigned long took_us = micros() - began_us;
    pole_step(&cart, push);
    steps++;
    if (steps % 50 == 0) {
        Serial.print(steps);
        Serial.print(" steps, the policy takes us: ");
        Serial.println(took_us);
    }
    if (pole_fell(&cart)) {
        Serial.println("the pole fell");
        begin_again();
    }
    next_ms += POLE_STEP_MS;
    while ((long)(next_ms - millis()) > 0) {
    }
}
