"""Which joints may be eliminated now, by the rules of `ordering`: components of bodies that are gone, and ties."""

from __future__ import annotations

from index3.compiled.interface import helper, view
from index3.linear.ordering_table import (
    ANCHOR,
    ANCHORED,
    ASKING,
    BEFORE,
    BODIES,
    GONE,
    JOINT,
    JOINTS,
    LINK,
    MEMBER,
    N_BODIES,
    NEXT,
    NEXT_MEMBER,
    NUMBERS,
    TIES,
    TOUCHED,
    TOUCHED_FIRST,
    WAITS_FOR,
    put,
)


@helper
def root(bodies, body):
    """The body that stands for a component."""
    while bodies[LINK, body] != body:
        bodies[LINK, body] = bodies[LINK, bodies[LINK, body]]
        body = bodies[LINK, body]
    return body


@helper
def open_gate(E):
    """No body is gone but ground, which joints are tied to."""
    bodies, ties, first = view(E, BODIES), view(E, TIES), view(E, TOUCHED_FIRST)
    ground = view(E, NUMBERS)[N_BODIES]
    for b in range(ground + 1):
        bodies[GONE, b], bodies[LINK, b], bodies[ANCHOR, b], bodies[ANCHORED, b], bodies[ASKING, b] = 0, b, -1, -1, -1
    bodies[GONE, ground] = 1
    for joint in range(first.shape[0] - 1):
        for t in range(first[joint], first[joint + 1]):
            ties[JOINT, t], ties[WAITS_FOR, t] = joint, -1


@helper
def wait_for(E, t, body):
    """Let a joint wait for a body by one of its ties."""
    bodies, ties = view(E, BODIES), view(E, TIES)
    after = bodies[ASKING, body]
    ties[WAITS_FOR, t], ties[NEXT, t], ties[BEFORE, t] = body, after, -1
    if after >= 0:
        ties[BEFORE, after] = t
    bodies[ASKING, body] = t


@helper
def wait_no_more(E, joint):
    """Let a joint wait for no body."""
    bodies, ties, first = view(E, BODIES), view(E, TIES), view(E, TOUCHED_FIRST)
    for t in range(first[joint], first[joint + 1]):
        body, before, after = ties[WAITS_FOR, t], ties[BEFORE, t], ties[NEXT, t]
        if body >= 0:
            ties[WAITS_FOR, t] = -1
            if before >= 0:
                ties[NEXT, before] = after
            else:
                bodies[ASKING, body] = after
            if after >= 0:
                ties[BEFORE, after] = before


@helper
def count_ties(E, joint):
    """To how many bodies, ground included, the components that a joint touches are tied."""
    bodies, touched, first, count = view(E, BODIES), view(E, TOUCHED), view(E, TOUCHED_FIRST), 0
    ground = root(bodies, view(E, NUMBERS)[N_BODIES])
    for t in range(first[joint], first[joint + 1]):
        if bodies[GONE, touched[t]] == 1:
            r, known = root(bodies, touched[t]), False
            for other in range(first[joint], t):
                known = known or (bodies[GONE, touched[other]] == 1 and root(bodies, touched[other]) == r)
            if not known:
                count += int(bodies[ANCHOR, r] >= 0) + int(r == ground)
    return count


@helper
def refuses(E, joint, forest):
    """Whether a joint must wait; then it does so for the bodies whose elimination can change that."""
    bodies, touched, first = view(E, BODIES), view(E, TOUCHED), view(E, TOUCHED_FIRST)
    begin, end, remaining = first[joint], first[joint + 1], 0
    for t in range(begin, end):
        if bodies[GONE, touched[t]] == 0:
            remaining += 1
            if not forest:
                wait_for(E, t, touched[t])
                return True
    if not forest:
        return False
    of_all = remaining > 1 or (remaining > 0 and end - begin > 2)
    if not of_all and count_ties(E, joint) + remaining <= 1:
        return False
    for t in range(begin, end):
        if bodies[GONE, touched[t]] == 0:
            wait_for(E, t, touched[t])
        elif not of_all:
            anchor = bodies[ANCHOR, root(bodies, touched[t])]
            if anchor >= 0:
                wait_for(E, t, anchor)
    return True


@helper
def pass_body(E, body):
    """Note that a body is gone: the components tied to it become one with it, and joints that waited ask again."""
    bodies, joints, ties = view(E, BODIES), view(E, JOINTS), view(E, TIES)
    bodies[GONE, body] = 1
    joint = bodies[ANCHORED, body]
    while joint >= 0:
        r = root(bodies, joints[MEMBER, joint])
        bodies[ANCHOR, r] = -1
        bodies[LINK, r] = root(bodies, body)
        joint = joints[NEXT_MEMBER, joint]
    while bodies[ASKING, body] >= 0:
        joint = ties[JOINT, bodies[ASKING, body]]
        wait_no_more(E, joint)
        put(E, view(E, NUMBERS)[N_BODIES] + joint)


@helper
def pass_joint(E, joint):
    """Note that a joint is gone: it makes its eliminated bodies one component, and ties it to its remaining body."""
    bodies, joints, touched, first = view(E, BODIES), view(E, JOINTS), view(E, TOUCHED), view(E, TOUCHED_FIRST)
    whole, anchor = -1, -1
    for t in range(first[joint], first[joint + 1]):
        body = touched[t]
        if bodies[GONE, body] == 0:
            anchor = body
        else:
            r = root(bodies, body)
            if bodies[ANCHOR, r] >= 0:
                anchor = bodies[ANCHOR, r]
                bodies[ANCHOR, r] = -1
            if whole < 0:
                whole = r
            bodies[LINK, r] = whole
    if anchor >= 0:
        bodies[ANCHOR, whole] = anchor
        joints[MEMBER, joint], joints[NEXT_MEMBER, joint] = whole, bodies[ANCHORED, anchor]
        bodies[ANCHORED, anchor] = joint
