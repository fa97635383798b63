/*
 * The table of ids against a plain array.
 */
#include "common/net/rpc/id_map.h"
#include "tests/support/test.h"

enum { NODES = 500 };

TEST(nodes_are_found_until_they_are_removed)
{
    static aq_id_node nodes[NODES];
    bool inside[NODES] = {false};
    size_t count = 0;
    aq_id_map map;
    aq_rng rng = rng_of(3, 0);
    assert_int_equal(aq_id_map_init(&map, NODES), 0);
    for (size_t i = 0; i < NODES; i++) {
        nodes[i].id = i << 32; /* alike in their low bits */
    }
    for (int round = 0; round < 20000; round++) {
        size_t i = aq_rng_below(&rng, NODES);
        if (inside[i]) {
            aq_id_map_remove(&map, &nodes[i]);
            count--;
        } else {
            aq_id_map_insert(&map, &nodes[i]);
            count++;
        }
        inside[i] = !inside[i];
        assert_int_equal(map.count, count);
        i = aq_rng_below(&rng, NODES);
        assert_ptr_equal(aq_id_map_find(&map, nodes[i].id), inside[i] ? &nodes[i] : NULL);
    }
    aq_id_map_fini(&map);
}

TEST(a_full_table_finds_all_it_holds)
{
    static aq_id_node nodes[NODES];
    aq_id_map map;
    assert_int_equal(aq_id_map_init(&map, NODES), 0);
    for (size_t i = 0; i < NODES; i++) {
        nodes[i].id = UINT64_MAX - i;
        aq_id_map_insert(&map, &nodes[i]);
    }
    for (size_t i = 0; i < NODES; i++) {
        assert_ptr_equal(aq_id_map_find(&map, UINT64_MAX - i), &nodes[i]);
    }
    assert_null(aq_id_map_find(&map, 0));
    aq_id_map_fini(&map);
}

TEST(no_memory_is_reported)
{
    aq_id_map map;
    assert_fails_without_memory(aq_id_map_init(&map, 4));
}
