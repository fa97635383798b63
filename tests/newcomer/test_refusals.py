#!/usr/bin/env python3
"""What will not go away is said in one line, at once, and leaves nothing behind: the command that
is given again, mended, works.

    test_refusals.py ACTORQ SOURCE_ROOT
"""

import os
import socket

from newcomer import SHORT, Newcomer, main


class TestRefusals(Newcomer):
    def mend(self, wrong, words, right):
        """The first is refused in one line, and the second works in the same folder."""
        self.refused(f"actorq train --run x {wrong} {SHORT} --quiet", *words)
        self.assertFalse(os.path.exists("x"))
        if right:
            self.works(f"actorq train --run x {right} {SHORT} --quiet")

    def test_an_address_that_is_none(self):
        self.mend("gym:CartPole-v1 --http nonsense", ["learner: --http: bad address 'nonsense'"],
                  "gym:CartPole-v1")

    def test_a_port_that_is_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.mend(f"gym:CartPole-v1 --http 127.0.0.1:{port}", [f":{port}", "in use"], None)

    def test_observations_that_are_no_numbers(self):
        right = "'gym:FrozenLake-v1?one_hot=yes'"
        self.mend("gym:FrozenLake-v1", [f"which {right} shows as numbers"], right)

    def test_an_algorithm_for_other_actions(self):
        self.mend("gym:Pendulum-v1 --set learner.algorithm=dqn", ["needs discrete actions"], None)


if __name__ == "__main__":
    main()
