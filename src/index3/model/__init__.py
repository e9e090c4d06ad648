"""The model: a named list of bodies, joints, motions and forces."""
