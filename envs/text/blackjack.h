/*
 * Blackjack (Sutton and Barto's example 5.1) with the rules of Gymnasium's: take cards, each as
 * likely as in an endless deck, for a sum nearer to 21 than the dealer's, who takes them below 17.
 * Actions: stick, hit. Reward 1 for a hand that is won, -1 for one that is lost, 0 for a draw; more
 * than 21 is lost.
 *
 * A state is (sum 11 + the dealer's card that lies open) 2 + whether an ace counts as 11; aces are
 * 1. The first two cards, an ace and a ten, are a natural.
 *
 * Options: sab=yes|no (yes): a natural wins unless the dealer has one, as in the book; natural=
 * yes|no (no): without sab, a hand won by a natural counts 1.5.
 */
#ifndef AQ_ENVS_TEXT_BLACKJACK_H
#define AQ_ENVS_TEXT_BLACKJACK_H

#include "envs/env.h"

extern const aq_env_class aq_blackjack_v1;

#endif
