"""The table of all words that model files know; a new word needs an entry, and a test finds those that have none."""

from __future__ import annotations

from index3.files.body_words import BODIES
from index3.files.force_words import FORCES
from index3.files.joint_words import JOINTS

WORDS = {word.name: word for word in (*BODIES, *JOINTS, *FORCES)}
"""All types of elements by name."""
UNWRITABLE = {
    "UserConstraint": "it holds functions of Python",
    "UserEquations": "it holds functions of Python",
    "UserForce": "it holds functions of Python",
    "VectorForce": "it holds functions of Python",
}
"""Words that no file can hold, with the reason."""
