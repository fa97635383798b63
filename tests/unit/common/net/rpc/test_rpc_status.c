/*
 * Status codes: gRPC's numbers and names, and a fitting one for each of our error codes.
 */
#include "common/net/rpc/rpc.h"
#include "tests/support/test.h"

TEST(codes_have_the_names_of_grpc)
{
    assert_string_equal(aq_rpc_code_name(0), "OK");
    assert_string_equal(aq_rpc_code_name(4), "DEADLINE_EXCEEDED");
    assert_string_equal(aq_rpc_code_name(14), "UNAVAILABLE");
    assert_string_equal(aq_rpc_code_name(16), "UNAUTHENTICATED");
    assert_string_equal(aq_rpc_code_name(17), "UNKNOWN");
    assert_string_equal(aq_rpc_code_name(UINT32_MAX), "UNKNOWN");
}

TEST(error_codes_have_a_fitting_status)
{
    static const struct {
        int error;
        enum aq_rpc_code code;
    } rows[] = {
        {AQ_OK, AQ_RPC_OK},
        {AQ_E_INVALID, AQ_RPC_INVALID_ARGUMENT},
        {AQ_E_NOT_FOUND, AQ_RPC_NOT_FOUND},
        {AQ_E_EXISTS, AQ_RPC_ALREADY_EXISTS},
        {AQ_E_TIMEOUT, AQ_RPC_DEADLINE_EXCEEDED},
        {AQ_E_AGAIN, AQ_RPC_UNAVAILABLE},
        {AQ_E_FULL, AQ_RPC_RESOURCE_EXHAUSTED},
        {AQ_E_NOMEM, AQ_RPC_RESOURCE_EXHAUSTED},
        {AQ_E_CORRUPT, AQ_RPC_DATA_LOSS},
        {AQ_E_SCHEMA, AQ_RPC_FAILED_PRECONDITION},
        {AQ_E_UNSUPPORTED, AQ_RPC_UNIMPLEMENTED},
        {AQ_E_IO, AQ_RPC_INTERNAL},
        {-9999, AQ_RPC_INTERNAL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(aq_rpc_code_from_error(rows[i].error), rows[i].code);
    }
}

#define EXPECT_NO_SUCCESS(name, number, text)                                                      \
    assert_true(aq_rpc_code_from_error(number) != AQ_RPC_OK);

TEST(no_error_becomes_a_success)
{
    AQ_ERROR_LIST(EXPECT_NO_SUCCESS)
}
