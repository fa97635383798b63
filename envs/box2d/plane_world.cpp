/*
 * Plane world on Box2D: see plane_world.h. Nothing but the calls; what the numbers mean is C's.
 */
#include "envs/box2d/plane_world.h"

#include <box2d/box2d.h>

#include <new>

/* What moves touches the ground alone. */
static const uint16 GROUND = 1, MOVING = 2;

/* As many as the original takes. */
static const int32 VELOCITY_ROUNDS = 180, POSITION_ROUNDS = 60;

struct aq_plane_member {
    b2Body *body;
    bool touches, has_touched;
};

class aq_plane_contacts : public b2ContactListener
{
  public:
    void BeginContact(b2Contact *contact) override
    {
        if (aq_plane_member *moving = moving_of(contact)) {
            moving->touches = moving->has_touched = true;
        }
    }

    void EndContact(b2Contact *contact) override
    {
        if (aq_plane_member *moving = moving_of(contact)) {
            moving->touches = false;
        }
    }

  private:
    /* The ground's pointer is 0. */
    static aq_plane_member *moving_of(b2Contact *contact)
    {
        const uintptr_t a = contact->GetFixtureA()->GetBody()->GetUserData().pointer;
        const uintptr_t b = contact->GetFixtureB()->GetBody()->GetUserData().pointer;
        return reinterpret_cast<aq_plane_member *>(a != 0 ? a : b);
    }
};

static b2Vec2 vector_of(aq_plane_vector v)
{
    return b2Vec2(v.x, v.y);
}

static aq_plane_vector vector_from(const b2Vec2 &v)
{
    return {v.x, v.y};
}

struct aq_plane_world {
    explicit aq_plane_world(float gravity) : world(b2Vec2(0.0f, gravity)), body_count(0)
    {
        const b2BodyDef still;
        world.SetContactListener(&listener);
        ground = world.CreateBody(&still);
    }

    aq_plane_contacts listener;
    b2World world;
    b2Body *ground;
    uint32_t body_count;
    aq_plane_member bodies[AQ_PLANE_BODIES_MAX];
};

size_t aq_plane_world_bytes(void)
{
    return sizeof(aq_plane_world);
}

void aq_plane_world_init(aq_plane_world *world, float gravity)
{
    new (world) aq_plane_world(gravity);
}

void aq_plane_world_fini(aq_plane_world *world)
{
    world->~aq_plane_world();
}

void aq_plane_world_add_ground(aq_plane_world *world, aq_plane_vector from, aq_plane_vector to,
                               float friction)
{
    b2EdgeShape edge;
    b2FixtureDef fixture;
    edge.SetTwoSided(vector_of(from), vector_of(to));
    fixture.shape = &edge;
    fixture.friction = friction;
    fixture.filter.categoryBits = GROUND;
    world->ground->CreateFixture(&fixture);
}

uint32_t aq_plane_world_add_body(aq_plane_world *world, const aq_plane_shape *shape,
                                 aq_plane_vector place, float angle)
{
    b2Vec2 corners[AQ_PLANE_CORNERS_MAX];
    b2PolygonShape polygon;
    b2FixtureDef fixture;
    b2BodyDef def;
    aq_plane_member *moving = &world->bodies[world->body_count];
    for (uint32_t i = 0; i < shape->corner_count; i++) {
        corners[i] = vector_of(shape->corners[i]);
    }
    polygon.Set(corners, static_cast<int32>(shape->corner_count));
    fixture.shape = &polygon;
    fixture.density = shape->density;
    fixture.friction = shape->friction;
    fixture.filter.categoryBits = MOVING;
    fixture.filter.maskBits = GROUND;
    def.type = b2_dynamicBody;
    def.position = vector_of(place);
    def.angle = angle;
    def.userData.pointer = reinterpret_cast<uintptr_t>(moving);
    *moving = {world->world.CreateBody(&def), false, false};
    moving->body->CreateFixture(&fixture);
    return world->body_count++;
}

void aq_plane_world_add_hinge(aq_plane_world *world, const aq_plane_hinge *hinge)
{
    b2RevoluteJointDef def;
    def.bodyA = world->bodies[hinge->body].body;
    def.bodyB = world->bodies[hinge->leg].body;
    def.localAnchorB = vector_of(hinge->leg_anchor);
    def.enableLimit = true;
    def.lowerAngle = hinge->low;
    def.upperAngle = hinge->high;
    def.enableMotor = true;
    def.motorSpeed = hinge->speed;
    def.maxMotorTorque = hinge->torque;
    world->world.CreateJoint(&def);
}

void aq_plane_world_force(aq_plane_world *world, uint32_t body, aq_plane_vector force, float torque)
{
    world->bodies[body].body->ApplyForceToCenter(vector_of(force), true);
    world->bodies[body].body->ApplyTorque(torque, true);
}

void aq_plane_world_push(aq_plane_world *world, uint32_t body, aq_plane_vector impulse,
                         aq_plane_vector at)
{
    world->bodies[body].body->ApplyLinearImpulse(vector_of(impulse), vector_of(at), true);
}

void aq_plane_world_step(aq_plane_world *world, float seconds)
{
    world->world.Step(seconds, VELOCITY_ROUNDS, POSITION_ROUNDS);
}

void aq_plane_world_read(const aq_plane_world *world, uint32_t body, aq_plane_body *ret_body)
{
    const aq_plane_member *moving = &world->bodies[body];
    ret_body->place = vector_from(moving->body->GetPosition());
    ret_body->velocity = vector_from(moving->body->GetLinearVelocity());
    ret_body->angle = moving->body->GetAngle();
    ret_body->spin = moving->body->GetAngularVelocity();
    ret_body->is_awake = moving->body->IsAwake();
    ret_body->touches = moving->touches;
    ret_body->has_touched = moving->has_touched;
}
