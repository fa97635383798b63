/*
 * Loading: RTLD_NOW, so that a function it lacks is told here and not in mid-episode; RTLD_LOCAL,
 * so that two plug-ins may use the same names.
 */
#include "envs/plugin/plugin_library.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "common/base/parse.h"

enum { PATH_BYTES_MAX = 512, STEP_LIMIT_MAX = 1 << 30 };

/* ---- the file ------------------------------------------------------------------------------- */

/* "PATH" or "PATH:NAME" into a path with a slash, as dlopen searches for others, and the name. */
static int split(const char *argument, char *path, const char **ret_name, aq_error *error)
{
    const char *slash = strrchr(argument, '/');
    const char *colon = strrchr(slash != NULL ? slash : argument, ':');
    const size_t length = colon != NULL ? (size_t)(colon - argument) : strlen(argument);
    if (length == 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "so: is followed by the path of a plug-in: so:./my_env.so");
    }
    if (aq_text_format(path, PATH_BYTES_MAX, "%s%.*s", slash != NULL ? "" : "./", (int)length,
                       argument) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the plug-in's path is too long: %s", argument);
    }
    *ret_name = colon != NULL ? colon + 1 : NULL;
    return 0;
}

static int load(const char *path, void **ret_handle, aq_error *error)
{
    char folder[PATH_BYTES_MAX];
    if (access(path, F_OK) != 0) {
        return aq_fail(error, AQ_E_NOT_FOUND, "there is no plug-in %s (seen from %s)", path,
                       path[0] == '/'                           ? "the root"
                       : getcwd(folder, sizeof(folder)) != NULL ? folder
                                                                : "here");
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        return aq_fail(error, AQ_E_UNSUPPORTED, "the plug-in can't be loaded: %s",
                       reason != NULL ? reason : path);
    }
    *ret_handle = handle;
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------ */

static int check_head(const actorq_plugin *plugin, const char *path, aq_error *error)
{
    if (plugin->magic != ACTORQ_ENV_MAGIC) {
        return aq_fail(error, AQ_E_VERSION,
                       "%s has a %s that is not one: its first number is %08" PRIx32
                       ", not %08" PRIx32,
                       path, ACTORQ_PLUGIN_SYMBOL, plugin->magic, ACTORQ_ENV_MAGIC);
    }
    if (plugin->abi != ACTORQ_ENV_ABI) {
        return aq_fail(error, AQ_E_VERSION,
                       "%s was built for version %" PRIu32
                       " of the plug-in interface; version %" PRIu32
                       " is needed: build it with this program's actorq_env.h",
                       path, plugin->abi, ACTORQ_ENV_ABI);
    }
    if (plugin->plugin_bytes != sizeof(actorq_plugin) || plugin->env_bytes != sizeof(actorq_env) ||
        plugin->space_bytes != sizeof(actorq_space)) {
        return aq_fail(error, AQ_E_VERSION,
                       "%s was built with a changed actorq_env.h: its structs have %" PRIu32
                       ", %" PRIu32 " and %" PRIu32 " bytes, not %zu, %zu and %zu",
                       path, plugin->plugin_bytes, plugin->env_bytes, plugin->space_bytes,
                       sizeof(actorq_plugin), sizeof(actorq_env), sizeof(actorq_space));
    }
    if (plugin->env_count == 0 || plugin->env_count > ACTORQ_ENVS_MAX || plugin->envs == NULL) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s offers %" PRIu32 " environments; 1 to %d are possible", path,
                       plugin->env_count, ACTORQ_ENVS_MAX);
    }
    return 0;
}

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.";
    const size_t length = name != NULL ? strnlen(name, ACTORQ_NAME_MAX) : 0;
    return length > 0 && length < ACTORQ_NAME_MAX && strspn(name, letters) == length;
}

static int check_env(const actorq_env *env, const char *path, aq_error *error)
{
    const char *missing = env->spaces == NULL    ? "spaces"
                          : env->reset == NULL   ? "reset"
                          : env->step == NULL    ? "step"
                          : env->observe == NULL ? "observe"
                                                 : NULL;
    if (missing != NULL) {
        return aq_fail(error, AQ_E_INVALID, "%s: %s has no function \"%s\"", path, env->name,
                       missing);
    }
    if (env->params_bytes > AQ_PLUGIN_BYTES_MAX || env->state_bytes > AQ_PLUGIN_BYTES_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s: %s asks for %" PRIu64 " bytes of params and %" PRIu64
                       " of state; up to %" PRIu64 " are possible",
                       path, env->name, env->params_bytes, env->state_bytes, AQ_PLUGIN_BYTES_MAX);
    }
    if (env->step_limit > STEP_LIMIT_MAX || isinf(env->reward_threshold)) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s: %s has a limit of %" PRIu32 " steps and a threshold of %g", path,
                       env->name, env->step_limit, env->reward_threshold);
    }
    return 0;
}

static int fail_choice(const actorq_plugin *plugin, const char *path, const char *name,
                       aq_error *error)
{
    char names[256] = "";
    for (uint32_t i = 0; i < plugin->env_count; i++) {
        aq_text_append(names, sizeof(names), "%s%s", i > 0 ? ", " : "", plugin->envs[i].name);
    }
    if (name == NULL) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s offers several environments (%s): choose with so:%s:%s", path, names,
                       path, plugin->envs[0].name);
    }
    return aq_fail(error, AQ_E_NOT_FOUND, "%s offers no \"%s\", but %s", path, name, names);
}

static int choose(const actorq_plugin *plugin, const char *path, const char *name,
                  const actorq_env **ret_env, aq_error *error)
{
    for (uint32_t i = 0; i < plugin->env_count; i++) {
        if (!is_name(plugin->envs[i].name)) {
            return aq_fail(error, AQ_E_INVALID,
                           "%s: the name of its environment %" PRIu32 " is not up to %d letters, "
                           "digits, '-', '_' and '.'",
                           path, i, ACTORQ_NAME_MAX - 1);
        }
    }
    const actorq_env *found = name == NULL && plugin->env_count == 1 ? plugin->envs : NULL;
    for (uint32_t i = 0; name != NULL && found == NULL && i < plugin->env_count; i++) {
        found = strcmp(plugin->envs[i].name, name) == 0 ? &plugin->envs[i] : NULL;
    }
    if (found == NULL) {
        return fail_choice(plugin, path, name, error);
    }
    int rc = check_env(found, path, error);
    if (rc == 0) {
        *ret_env = found;
    }
    return rc;
}

int aq_plugin_library_open(const char *argument, aq_plugin_library *ret_library, aq_error *error)
{
    char path[PATH_BYTES_MAX];
    const char *name = NULL;
    aq_plugin_library library = {0};
    int rc = split(argument, path, &name, error);
    rc = rc != 0 ? rc : load(path, &library.handle, error);
    if (rc != 0) {
        return rc;
    }
    const actorq_plugin *plugin = dlsym(library.handle, ACTORQ_PLUGIN_SYMBOL);
    if (plugin == NULL) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "%s is no plug-in of ActorQ: it exports no %s (see actorq_env.h)", path,
                     ACTORQ_PLUGIN_SYMBOL);
    }
    rc = rc != 0 ? rc : check_head(plugin, path, error);
    rc = rc != 0 ? rc : choose(plugin, path, name, &library.env, error);
    if (rc != 0) {
        aq_plugin_library_close(&library);
        return rc;
    }
    *ret_library = library;
    return 0;
}

void aq_plugin_library_close(aq_plugin_library *library)
{
    if (library->handle != NULL) {
        (void)dlclose(library->handle);
    }
    *library = (aq_plugin_library){0};
}

/* ---- spaces --------------------------------------------------------------------------------- */

_Static_assert(ACTORQ_RANK_MAX == (int)AQ_SHAPE_RANK_MAX, "one limit of the rank");
_Static_assert(ACTORQ_BOUNDS_MAX == (int)AQ_BOUNDS_MAX, "one limit of bounds");

/* The numbers of kinds and types are the same on both sides; validation knows the others. */
static void copy_space(const actorq_space *from, aq_space *to)
{
    *to = (aq_space){
        .kind = from->kind,
        .dtype = from->kind == ACTORQ_DISCRETE ? (uint32_t)AQ_DTYPE_F32 : from->dtype,
        .rank = from->rank,
        .choice_count = from->choice_count,
        .bound_count = from->bound_count,
    };
    memcpy(to->shape, from->shape, sizeof(to->shape));
    memcpy(to->low, from->low, sizeof(to->low));
    memcpy(to->high, from->high, sizeof(to->high));
}

int aq_plugin_schema(const actorq_env *env, const void *params, aq_schema *ret_schema,
                     aq_error *error)
{
    actorq_space observation = {0}, action = {0};
    aq_schema schema;
    env->spaces(params, &observation, &action);
    copy_space(&observation, &schema.obs);
    copy_space(&action, &schema.action);
    int rc = aq_schema_validate(&schema, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "plug-in %s", env->name);
    }
    *ret_schema = schema;
    return 0;
}
