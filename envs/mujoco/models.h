/*
 * The descriptions in models/, as text in the program (embed_models.py makes it while building).
 */
#ifndef AQ_ENVS_MUJOCO_MODELS_H
#define AQ_ENVS_MUJOCO_MODELS_H

extern const char aq_mjcf_acrobot[];
extern const char aq_mjcf_ball_in_cup[];
extern const char aq_mjcf_cartpole[];
extern const char aq_mjcf_cheetah[];
extern const char aq_mjcf_finger[];
extern const char aq_mjcf_hopper[];
extern const char aq_mjcf_humanoid[];
extern const char aq_mjcf_pendulum[];
extern const char aq_mjcf_point_mass[];
extern const char aq_mjcf_reacher[];
extern const char aq_mjcf_walker[];

#endif
