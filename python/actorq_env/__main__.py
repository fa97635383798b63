"""python3 -m actorq_env TASK: started by ActorQ, with its channels as file descriptors 3 to 5."""

import sys

from actorq_env.worker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv))
