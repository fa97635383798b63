"""tools/layers.py finds every kind of include that points the wrong way."""

import unittest

from planted_tree import PlantedTree


class Layers(PlantedTree):
    tool = "layers.py"

    def plant_include(self, path, include):
        self.plant(path, f"/* A file. */\n#include {include}\n")

    def test_a_clean_tree_has_no_finding(self):
        self.assertEqual(self.found(), [])

    def test_an_include_that_points_up_is_found(self):
        self.plant_include("common/base/queue.c", '"replay/shard/replay_core.h"')
        self.assertEqual(self.found(), ["common/base/queue.c:2 layer"])

    def test_a_program_that_includes_another_is_found(self):
        self.plant_include("actor/core/chunker.c", '"replay/shard/replay_core.h"')
        self.assertEqual(self.found(), ["actor/core/chunker.c:2 layer"])

    def test_a_room_that_sees_one_above_it_is_found(self):
        self.plant("replay/daemon/replay_net.h", "/* The shell. */\n")
        self.plant_include("replay/shard/replay_core.c", '"replay/daemon/replay_net.h"')
        self.plant_include("replay/daemon/replay_main.c", '"replay/daemon/replay_net.h"')
        self.assertEqual(self.found(), ["replay/shard/replay_core.c:2 layer"])

    def test_a_tower_that_stands_on_half_of_another_sees_that_half(self):
        self.plant("common/sys/log.h", "/* Logs. */\n")
        self.plant("common/config/run_config.h", "/* Settings. */\n")
        self.plant_include("envs/cartpole.c", '"common/sys/log.h"')
        self.plant_include("envs/acrobot.c", '"common/config/run_config.h"')
        self.assertEqual(self.found(), ["envs/acrobot.c:2 layer"])

    def test_a_kind_that_sees_its_sibling_is_found(self):
        self.plant("envs/text/taxi.h", "/* One. */\n")
        self.plant_include("envs/text/maze.c", '"envs/text/taxi.h"')
        self.plant_include("envs/env_registry.c", '"envs/text/taxi.h"')
        self.plant_include("envs/games/miner.c", '"envs/text/taxi.h"')
        self.plant_include("envs/canvas.c", '"envs/text/taxi.h"')
        self.assertEqual(self.found(), ["envs/canvas.c:2 layer", "envs/games/miner.c:2 layer"])

    def test_a_relative_include_is_found(self):
        self.plant_include("replay/table/tree.c", '"replay_core.h"')
        self.assertEqual(self.found(), ["replay/table/tree.c:2 layer"])

    def test_an_included_source_is_found(self):
        self.plant_include("tests/unit/common/base/test_queue.c", '"common/base/error.c"')
        self.assertEqual(self.found(), ["tests/unit/common/base/test_queue.c:2 layer"])

    def test_a_folder_without_a_layer_is_found(self):
        self.plant_include("common/misc/drawer.c", "<stdio.h>")
        self.plant_include("helpers/more.c", "<stdio.h>")
        self.assertEqual(self.found(), ["common/misc/drawer.c:1 layer", "helpers/more.c:1 layer"])

    def test_nng_outside_of_net_is_found(self):
        self.plant_include("common/net/sockets/push.c", "<nng/nng.h>")
        self.plant_include("replay/daemon/inbox.c", "<nng/protocol/pipeline0/pull.h>")
        self.assertEqual(self.found(), ["replay/daemon/inbox.c:2 knowledge"])

    def test_blas_outside_of_the_learner_is_found(self):
        self.plant_include("learner/nn/optimizer.c", "<cblas.h>")
        self.plant_include("common/nn/forward.c", "<cblas.h>")
        self.assertEqual(self.found(), ["common/nn/forward.c:2 knowledge"])

    def test_vector_code_outside_of_its_library_is_found(self):
        self.plant_include("quantizer/kernels/x86/tile_avx2.c", "<immintrin.h>")
        self.plant_include("quantizer/engine/engine.c", "<immintrin.h>")
        self.assertEqual(self.found(), ["quantizer/engine/engine.c:2 library"])

    def test_generated_messages_behind_the_shell_are_found(self):
        self.plant_include("replay/table/replay_table.c", '"proto/rpc.pb-c.h"')
        self.assertEqual(self.found(), ["replay/table/replay_table.c:2 knowledge"])

    def test_net_sees_the_envelope_and_no_other_message(self):
        self.plant("proto/policy.proto", "syntax = \"proto3\";\n")
        self.plant_include("common/net/rpc/rpc.c", '"proto/rpc.pb-c.h"')
        self.plant_include("common/net/rpc/frame.c", '"proto/policy.pb-c.h"')
        self.assertEqual(self.found(), ["common/net/rpc/frame.c:2 knowledge"])

    def test_a_message_without_its_proto_is_found(self):
        self.plant_include("replay/service/shard_service.c", '"proto/nothing.pb-c.h"')
        self.assertEqual(self.found(), ["replay/service/shard_service.c:2 layer"])

    def test_a_core_with_a_socket_or_a_thread_is_found(self):
        self.plant("common/net/sockets/push.h", "/* Push. */\n")
        self.plant("actor/core/actor_core.c",
                   '/* A core. */\n#include "common/net/sockets/push.h"\n#include <pthread.h>\n')
        self.assertEqual(self.found(), ["actor/core/actor_core.c:2 knowledge",
                                        "actor/core/actor_core.c:3 knowledge"])

    def test_a_session_with_a_socket_is_found(self):
        self.plant("common/net/rpc/rpc.h", "/* Calls. */\n")
        self.plant("actor/session/shard_session.c",
                   '/* A session. */\n#include "common/net/rpc/rpc.h"\n#include <uv.h>\n')
        self.assertEqual(self.found(), ["actor/session/shard_session.c:3 knowledge"])

    def test_a_core_that_asks_for_the_time_is_found(self):
        self.plant("actor/core/actor_core.c",
                   "/* A core. */\nvoid aq_core(void)\n{\n    aq_clock_wall_ns();\n}\n")
        self.assertEqual(self.found(), ["actor/core/actor_core.c:4 knowledge"])

    def test_an_include_in_a_comment_is_none(self):
        self.plant("envs/cartpole.c", '/*\n#include "replay/shard/replay_core.h"\n*/\n')
        self.assertEqual(self.found(), [])


if __name__ == "__main__":
    unittest.main()
