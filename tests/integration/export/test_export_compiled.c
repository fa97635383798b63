/*
 * Exported policies, compiled as their users would and compared with the engine on every rung, bit
 * by bit, over observations that have everything a float can be; and what they draw, with what an
 * actor would of the same random bits. A compiler that this machine lacks is named and its test
 * skipped.
 *
 * The one argument is the folder of the harness.
 */
#include "common/base/counter_rng.h"
#include "common/policy/draw_source.h"
#include "common/sys/cpu.h"
#include "quantizer/engine/engine.h"
#include "quantizer/export/export_c.h"
#include "quantizer/kernels/qkernels.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/policy/head_kit.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS = 256 };

static const char *source_folder;

/* ---- the policies --------------------------------------------------------------------------- */

static const struct policy_case {
    enum random_policy_net net;
    uint32_t format;
    bool is_static;
    uint32_t head;
    uint32_t last; /* another format of the last layer */
} cases[] = {
    {NET_ELU, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_NORM, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_CONV, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_DUELING, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_HEADS, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_ELU, AQ_FORMAT_INT8_TENSOR, false, AQ_HEAD_ARGMAX, 0},
    {NET_CONV, AQ_FORMAT_INT8_TENSOR, true, AQ_HEAD_ARGMAX, 0},
    {NET_TANH, AQ_FORMAT_INT8_CHANNEL, true, AQ_HEAD_TANH_BOX, 0},
    {NET_ELU, AQ_FORMAT_F32, false, AQ_HEAD_ARGMAX, 0}, /* one chain, two and four */
    {NET_NORM, AQ_FORMAT_F32, false, AQ_HEAD_CATEGORICAL, 0},
    {NET_ELU, AQ_FORMAT_BF16, false, AQ_HEAD_ARGMAX, AQ_FORMAT_INT8_CHANNEL},
    {NET_NORM, AQ_FORMAT_F16, false, AQ_HEAD_ARGMAX, AQ_FORMAT_BF16},
    {NET_ELU, AQ_FORMAT_INT8_CHANNEL, false, HEAD_KIT_ROW + AQ_HEAD_CATEGORICAL, AQ_FORMAT_F32},
    {NET_SIMBA, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_SIMBA, AQ_FORMAT_INT8_TENSOR, true, AQ_HEAD_ARGMAX, 0},
    {NET_IMPALA, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_GRU, AQ_FORMAT_INT8_CHANNEL, false, AQ_HEAD_ARGMAX, 0},
    {NET_GRU, AQ_FORMAT_INT8_TENSOR, true, AQ_HEAD_ARGMAX, 0},
    {NET_ELU, AQ_FORMAT_INT4, false, AQ_HEAD_ARGMAX, 0},
    {NET_CONV, AQ_FORMAT_INT4, true, AQ_HEAD_ARGMAX, AQ_FORMAT_INT8_CHANNEL},
    {NET_GRU, AQ_FORMAT_INT4, false, AQ_HEAD_ARGMAX, 0},
    {NET_ELU, AQ_FORMAT_INT2, true, AQ_HEAD_ARGMAX, AQ_FORMAT_F32},
    {NET_IMPALA, AQ_FORMAT_INT2, false, AQ_HEAD_ARGMAX, 0},
    {NET_ELU, AQ_FORMAT_INT8_SPARSE, false, AQ_HEAD_ARGMAX, AQ_FORMAT_INT4},
    {NET_CONV, AQ_FORMAT_INT8_SPARSE, false, AQ_HEAD_ARGMAX, 0},
    {NET_GRU, AQ_FORMAT_INT8_SPARSE, true, AQ_HEAD_ARGMAX, AQ_FORMAT_INT2},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

/* A policy of any head: outputs of some kind fit it. Those that draw are fp32 at the end. */
static struct policy_case case_of_head(uint32_t head)
{
    aq_net_spec spec = random_policy_spec(NET_RELU);
    aq_space space;
    const enum random_policy_net net = head_kit_fit(head, &spec, &space) ? NET_RELU : NET_TANH;
    return (struct policy_case){net, AQ_FORMAT_INT8_CHANNEL, false, head,
                                aq_head_of(head)->drawing != NULL ? AQ_FORMAT_F32 : 0};
}

static aq_snapshot *make_policy(const struct policy_case *policy)
{
    const aq_net_spec spec = random_policy_spec(policy->net);
    const random_policy_how how = {.seed = 77u + policy->net,
                                   .format = policy->format,
                                   .last = policy->last,
                                   .is_static = policy->is_static,
                                   .head = policy->head};
    return random_policy_create(&spec, &how);
}

/* Three rows of four are plain; the others have numbers from the ends of what there is, in one
 * place, in all, or are all zero. */
static float *make_observations(const aq_snapshot *snapshot)
{
    static const float odd[] = {NAN,     INFINITY, -INFINITY, 3.4e38f, -3.4e38f, 1e-40f,
                                -1e-45f, -0.0f,    1e-38f,    1e30f,   -1e-30f,  16777217.0f};
    const uint32_t inputs = aq_net_spec_inputs(&snapshot->spec);
    float *obs = random_policy_observations(&snapshot->spec, 3, ROWS);
    for (size_t row = 0; row < ROWS; row += 4) {
        const float value = odd[row / 4 % 12];
        float *own = obs + row * inputs;
        if (row % 16 == 0) {
            for (uint32_t i = 0; i < inputs; i++) {
                own[i] = row % 32 == 0 ? value : 0.0f;
            }
        }
        own[row / 16 % inputs] = value;
    }
    return obs;
}

/* ---- drawing -------------------------------------------------------------------------------- */

static const uint64_t key = 4;
static const uint32_t lane = 7;

static uint32_t noise_count(const aq_snapshot *snapshot)
{
    const aq_head_terms terms = aq_snapshot_terms(snapshot);
    return terms.head->drawing != NULL ? terms.head->drawing->noise_count(&terms) : 0;
}

/* The bits that an actor's noise is made of (draw_source.h), 128 for each number. */
static void append_words(aq_buffer *rows, uint32_t draw, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t words[4];
        aq_counter_bits((uint32_t[]){(uint32_t)key, 0}, (uint32_t[]){draw, 0, lane, i}, words);
        assert_int_equal(aq_buffer_append(rows, words, sizeof(words)), 0);
    }
}

/* What the harness is given. */
static aq_buffer *make_rows(const aq_snapshot *snapshot, const float *obs)
{
    const size_t width = aq_net_spec_inputs(&snapshot->spec);
    aq_buffer *rows = buffer_up_to((size_t)1 << 24);
    for (uint32_t row = 0; row < ROWS; row++) {
        assert_int_equal(aq_buffer_append(rows, obs + row * width, width * sizeof(*obs)), 0);
        append_words(rows, row, noise_count(snapshot));
    }
    return rows;
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Which NaN it is, is not said. */
static bool same_bits(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

static void assert_same_bits(float got, float expected)
{
    if (!same_bits(got, expected)) {
        fail_msg("%a instead of %a", (double)got, (double)expected);
    }
}

/* What an actor draws of the row's noise, and says of it. */
static void check_draw(const aq_head_terms *terms, uint32_t row, const float *outputs,
                       const float *got)
{
    const aq_head_drawing *drawing = terms->head->drawing;
    const size_t elements = aq_space_elements(terms->action);
    float noise[AQ_BOUNDS_MAX * 8], action[AQ_BOUNDS_MAX], drawn[AQ_BOUNDS_MAX];
    const uint32_t count = drawing->noise_count(terms);
    assert_true(count <= sizeof(noise) / sizeof(noise[0]));
    const aq_draw_at at = {.key = key, .draw = row, .lane = lane, .octaves = 1};
    aq_draw_noise(drawing, &at, count, noise);
    const float log_prob = drawing->draw(terms, outputs, noise, action, drawn);
    assert_memory_equal(got, action, elements * sizeof(float));
    assert_memory_equal(got + elements, action, elements * sizeof(float));
    assert_same_bits(got[2 * elements], log_prob);
}

static void check_row(const aq_snapshot *snapshot, uint32_t row, const float *expected,
                      const float *got)
{
    const aq_space *space = &snapshot->schema.action;
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    float action[AQ_BOUNDS_MAX];
    for (uint32_t o = 0; o < outputs; o++) {
        assert_same_bits(got[o], expected[o]);
    }
    const aq_head_terms terms = aq_snapshot_terms(snapshot);
    terms.head->act(&terms, expected, 1, action);
    assert_memory_equal(got + outputs, action, aq_space_bytes(space));
    if (terms.head->drawing != NULL) {
        check_draw(&terms, row, expected, got + outputs + aq_space_elements(space));
    }
}

/* Of a policy that keeps a state, the rows are the steps of one episode. */
static void forward_rows(aq_engine *engine, const float *obs, float *out)
{
    const aq_net_spec *spec = &aq_engine_snapshot(engine)->spec;
    const size_t width = aq_net_spec_state(spec), outputs = aq_net_spec_outputs(spec);
    float state[AQ_BOUNDS_MAX] = {0};
    assert_true(width <= AQ_BOUNDS_MAX);
    if (width == 0) {
        aq_engine_forward(engine, obs, ROWS, out);
    }
    for (size_t row = 0; width > 0 && row < ROWS; row++) {
        memcpy(out + row * outputs,
               aq_engine_step(engine, obs + row * aq_net_spec_inputs(spec), state, 1),
               outputs * sizeof(*out));
    }
}

static void check_outputs(aq_snapshot *snapshot, const float *obs, const aq_buffer *got)
{
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    const size_t elements = aq_space_elements(&snapshot->schema.action);
    const size_t width = outputs + elements + (noise_count(snapshot) > 0 ? 2 * elements + 1 : 0);
    const aq_qkernels *rung;
    float *expected = aq_alloc((size_t)ROWS * outputs, sizeof(*expected));
    assert_non_null(expected);
    assert_int_equal(got->size, ROWS * width * sizeof(float));
    for (uint32_t r = 0; (rung = aq_qkernels_rung(r)) != NULL; r++) {
        aq_engine *engine = NULL;
        if ((rung->cpu_flags & ~aq_cpu_flags()) != 0) {
            continue;
        }
        assert_int_equal(aq_engine_create(snapshot, ROWS, rung->cpu_flags, &engine, NULL), 0);
        forward_rows(engine, obs, expected);
        for (uint32_t row = 0; row < ROWS; row++) {
            check_row(snapshot, row, expected + row * outputs,
                      (const float *)(const void *)got->data + row * width);
        }
        aq_engine_destroy(engine);
    }
    aq_free(expected);
}

/* ---- compiling ------------------------------------------------------------------------------ */

typedef struct toolchain {
    const char *compiler;
    const char *flags;  /* for the exported file, which is to pass any warning */
    const char *common; /* for every file */
    const char *extra;  /* more files */
    const char *runner; /* before the program's name */
} toolchain;

static bool is_installed(const char *program)
{
    return shell("command -v %s >/dev/null 2>&1", program) == 0;
}

static void compile_and_run(const toolchain *tools, const aq_snapshot *snapshot)
{
    static const char warnings[] = "-Wall -Wextra -Werror -pedantic -Wmissing-prototypes";
    const aq_space *action = &snapshot->schema.action;
    shell_succeeds("%s %s %s %s -c policy.c -o policy.o", tools->compiler, tools->common,
                   tools->flags, warnings);
    shell_succeeds("%s %s -O1 -DINPUTS=%u -DOUTPUTS=%u -DELEMENTS=%zu -DIS_BOX=%d "
                   "-DIS_ROW=%d -DNOISE=%u -DSTATE=%u policy.o "
                   "%s/policy_harness.c %s%s%s -o policy",
                   tools->compiler, tools->common, aq_net_spec_inputs(&snapshot->spec),
                   aq_net_spec_outputs(&snapshot->spec), aq_space_elements(action),
                   action->kind == AQ_SPACE_BOX, aq_space_is_several(action), noise_count(snapshot),
                   aq_net_spec_state(&snapshot->spec), source_folder,
                   tools->extra[0] != '\0' ? source_folder : "", tools->extra[0] != '\0' ? "/" : "",
                   tools->extra);
    shell_succeeds("%s ./policy <rows.bin >out.bin", tools->runner);
}

static void check_case(const toolchain *tools, const struct policy_case *policy)
{
    aq_export_figures figures;
    aq_snapshot *snapshot = make_policy(policy);
    float *obs = make_observations(snapshot);
    char net[256];
    print_message("%s %s: %s, %s\n", tools->compiler, tools->flags,
                  aq_net_spec_text(&snapshot->spec, net, sizeof(net)),
                  aq_head_name(snapshot->head));
    aq_buffer *text = buffer_up_to(AQ_EXPORT_BYTES_MAX);
    aq_buffer *rows = make_rows(snapshot, obs);
    assert_succeeds(aq_export_c(snapshot, "policy", text, &figures, &refusal));
    file_put("policy.c", text->data, text->size);
    file_put("rows.bin", rows->data, rows->size);
    compile_and_run(tools, snapshot);
    check_outputs(snapshot, obs, file_bytes("out.bin"));
}

static void check_all(const toolchain *tools)
{
    if (!is_installed(tools->compiler)) {
        print_message("skipped: no %s\n", tools->compiler);
        skip();
    }
    if (tools->runner[0] != '\0' && !is_installed(tools->runner)) {
        print_message("skipped: no %s\n", tools->runner);
        skip();
    }
    for (uint32_t head = 1; head < AQ_HEADS_END; head++) {
        const struct policy_case policy = case_of_head(head);
        check_case(tools, &policy);
    }
    for (size_t i = 0; i < CASES; i++) {
        check_case(tools, &cases[i]);
    }
}

TEST(gcc_as_strict_c99_gives_the_engines_bits)
{
    static const toolchain tools = {"gcc", "-O2 -std=c99", "", "", ""};
    check_all(&tools);
}

/* By default GCC contracts multiplications and additions where the processor can. */
TEST(gcc_with_all_that_the_processor_has_gives_the_engines_bits)
{
    static const toolchain tools = {"gcc", "-O3 -march=native", "", "", ""};
    check_all(&tools);
}

TEST(clang_gives_the_engines_bits)
{
    static const toolchain tools = {"clang", "-O2 -std=c99", "", "", ""};
    check_all(&tools);
}

TEST(clang_with_all_that_the_processor_has_gives_the_engines_bits)
{
    static const toolchain tools = {"clang", "-O3 -march=native", "", "", ""};
    check_all(&tools);
}

/* Where a compiler shows what would change the results, the file ends the compilation. */
TEST(flags_that_would_change_the_results_stop_the_compiler)
{
    static const struct {
        const char *compiler, *flags;
        bool is_stopped;
    } rows[] = {
        {"gcc", "-O2", false},
        {"gcc", "-ffast-math", true},
        {"gcc", "-ffinite-math-only", true},
        {"gcc", "-funsafe-math-optimizations", true},
        {"gcc", "-freciprocal-math", true},
        {"clang", "-O2", false},
        {"clang", "-ffast-math", true},
        {"clang", "-ffinite-math-only", true},
    };
    aq_export_figures figures;
    aq_buffer *text = buffer_up_to(AQ_EXPORT_BYTES_MAX);
    assert_succeeds(aq_export_c(make_policy(&cases[0]), "policy", text, &figures, &refusal));
    file_put("policy.c", text->data, text->size);
    EACH_ROW(i, rows) {
        if (is_installed(rows[i].compiler)) {
            assert_int_equal(shell("%s %s -c policy.c -o policy.o 2>said.txt", rows[i].compiler,
                                   rows[i].flags) != 0,
                             rows[i].is_stopped);
        }
    }
}

/* A caller's file that includes it twice, in either language, as the policy's own is: of each head,
 * and with a state. */
TEST(headers_are_those_of_their_files)
{
    static const char caller[] = "#include \"policy.h\"\n#include \"policy.h\"\n"
                                 "float obs[POLICY_OBS], out[POLICY_OUTPUTS];\n"
                                 "int main(void) { policy_forward(obs, out); return 0; }\n";
    static const char stateful[] = "#include \"policy.h\"\n"
                                   "float obs[POLICY_OBS], out[POLICY_OUTPUTS];\n"
                                   "float state[POLICY_STATE];\n"
                                   "int main(void) { policy_forward(obs, state, out);\n"
                                   "return policy_act(obs, state) >= POLICY_CHOICES; }\n";
    static const char warnings[] = "-Wall -Wextra -Werror -pedantic";
    static const struct policy_case keeps_state = {NET_GRU, AQ_FORMAT_INT8_CHANNEL, false,
                                                   AQ_HEAD_ARGMAX, 0};
    for (uint32_t head = 1; head <= AQ_HEADS_END; head++) {
        const struct policy_case policy = head < AQ_HEADS_END ? case_of_head(head) : keeps_state;
        aq_snapshot *snapshot = make_policy(&policy);
        const char *text = aq_net_spec_state(&snapshot->spec) > 0 ? stateful : caller;
        aq_export_figures figures;
        aq_buffer *file = buffer_up_to(AQ_EXPORT_BYTES_MAX);
        aq_buffer *header = buffer_up_to(AQ_EXPORT_BYTES_MAX);
        assert_succeeds(aq_export_c(snapshot, "policy", file, &figures, &refusal));
        assert_succeeds(aq_export_c_header(snapshot, "policy", header, &refusal));
        file_put("policy.c", file->data, file->size);
        file_put("policy.h", header->data, header->size);
        file_put_text("main.c", text);
        shell_succeeds("gcc -O0 -std=c99 %s -include policy.h -c policy.c && "
                       "gcc -O0 -std=c99 %s main.c policy.o -o called && ./called && "
                       "g++ -O0 -x c++ %s main.c -x none policy.o -o called && ./called && "
                       "g++ -O0 -std=c++17 -x c++ %s main.c policy.c -o called && ./called",
                       warnings, warnings, warnings, warnings);
    }
}

#define ARM_COMMON "-mthumb -nostartfiles -Wl,-Ttext=0x100000 "

TEST(a_microcontroller_with_floats_gives_the_engines_bits)
{
    static const toolchain tools = {"arm-none-eabi-gcc", "-O2",
                                    ARM_COMMON "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
                                    "arm_start.c", "qemu-arm"};
    check_all(&tools);
}

TEST(a_microcontroller_without_floats_gives_the_engines_bits)
{
    static const toolchain tools = {"arm-none-eabi-gcc", "-Os",
                                    ARM_COMMON "-mcpu=cortex-m0 -mfloat-abi=soft", "arm_start.c",
                                    "qemu-arm"};
    check_all(&tools);
}

static int enter_folder(void **state)
{
    *state = file_folder_make();
    return chdir(*state);
}

static int leave_folder(void **state)
{
    file_folder_remove(*state);
    return 0;
}

TEST_GROUP(enter_folder, leave_folder);

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: test_export_compiled FOLDER_OF_THE_HARNESS\n");
        return 2;
    }
    source_folder = argv[1];
    return aq_test_run(NULL);
}
