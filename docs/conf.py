"""Settings of the documentation: Markdown by MyST, API from docstrings, a gallery that runs its scripts."""

import importlib
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

project = "index3"
author = "The index3 authors"
release = re.search(
    r'__version__ = "(.*?)"', (ROOT / "src/index3/__init__.py").read_text("utf-8")
).group(1)
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are drawn without a network
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_build",
    "gallery/README.rst",
    "gallery/*.py",
    "gallery/*.ipynb",
    "gallery/*.py.md5",
]
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions

autodoc_typehints = "none"  # signatures carry them
autodoc_member_order = "bysource"
INNER = (  # what elements tell the compiler and the page of themselves: for who writes one, not for who uses one
    "record", "damped", "explain", "conservative", "solids", "pose", "frame_motion", "constants", "is_oriented", "form",
    "check_model", "has_part", "clamp_arms", "marker_beside", "law_in_numbers", "curved", "span", "marker_at_pose",
    "drawing", "marker_rows", "row_weights", "along", "lacks_inertia", "longest_step", "mode", "symbol", "blocks",
    "given_rates", "mark", "check_place", "joint_point", "own_marker_at", "marker_pose", "marker_motion", "solid",
    "reported", "factor", "from_data", "file_arrays", "slips", "by_differences", "solve", "reading_others",
    "reads_accelerations", "reads_reactions", "bodies", "made_with",
    "places", "turn_length",
)  # fmt: skip
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "index3"
html_static_path = ["_static"]
html_css_files = ["index3.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the browser asks


def plain_text(app, what, name, obj, options, lines):
    """Docstrings are plain text with code in backticks: hide from reStructuredText what means something else to it."""
    if what in ("property", "attribute"):
        lines[0] = lines[0].replace(": ", " - ")  # what comes before a colon is no type
    text = re.sub(
        r"(?<!`)`[^`]+`(?!`)",
        lambda found: "`" + " ".join(found.group()[1:-1].split()) + "`",
        "\n".join(lines),
    )
    text = re.sub(
        r"\n\n(?=\S)(?!.+\n---)(?!\w[\w, ]* : )", "\n\n\n", text
    )  # a paragraph ends the section before it
    text = re.sub(
        r"^(\w[\w, ]*) : (?=\S)", r"\1\n    ", text, flags=re.MULTILINE
    )  # what follows a name says more than a type
    lines[:] = [
        line if line.lstrip().startswith((">>>", "...", ":")) else hidden(line)
        for line in text.split("\n")
    ]


def hidden(line):
    """A line with its code as literals and everything else without a meaning."""
    pieces = re.split(r"(`+[^`]*`+)", line)
    for k, piece in enumerate(pieces):
        pieces[k] = (
            f"``{piece.strip('`')}``"
            if k % 2
            else re.sub(r"([*|]|_(?=\W|$))", r"\\\1", piece)
        )
    return "".join(pieces)


def write_names(app):
    """One page for each public name, from its docstring, and a page that lists them by kind."""
    import index3
    from index3.registry import ELEMENTS

    folder = Path(app.srcdir) / "names"
    folder.mkdir(exist_ok=True)
    public = [
        name
        for name in index3.__all__
        if not inspect.ismodule(getattr(index3, name)) and name != "METHODS"
    ]
    kinds = {name: ELEMENTS[name].element for name in public if name in ELEMENTS}
    rooms = {
        "Bodies": [name for name in public if kinds.get(name) in ("body", "states")],
        "Joints and motions": [
            name for name in public if kinds.get(name) in ("joint", "motion")
        ],
        "Forces": [name for name in public if kinds.get(name) == "force"],
        "Analyses and files": [
            name for name in public if inspect.isfunction(getattr(index3, name))
        ],
    }
    rooms["Model, results, errors"] = [
        name for name in public if not any(name in room for room in rooms.values())
    ]
    rooms = {
        title: [f"index3.{name}" for name in names] for title, names in rooms.items()
    }
    for title, module in (
        ("Methods", index3.methods),
        ("Contact shapes", index3.shapes),
        ("Library", index3.library),
    ):
        names = getattr(module, "__all__", None) or [
            name for name in dir(module) if not name.startswith("_")
        ]
        things = [(name, getattr(module, name)) for name in names]
        rooms[title] = [
            f"{module.__name__}.{name}"
            for name, thing in things
            if inspect.isclass(thing) or inspect.isfunction(thing)
        ]
    lines = [
        "Python reference",
        "================",
        "",
        "Every public name with its docstring.",
        "",
    ]
    for title, names in rooms.items():
        lines += [title, "-" * len(title), "", ".. toctree::", "   :maxdepth: 1", ""]
        for name in sorted(names):
            module, _, short = name.rpartition(".")
            thing = getattr(importlib.import_module(module), short)
            directive = "autoclass" if inspect.isclass(thing) else "autofunction"
            page = [short, "=" * len(short), "", f".. {directive}:: {name}"]
            if short in kinds:
                page.append(f"   :exclude-members: {', '.join(INNER)}")
            keep(folder / f"{name}.rst", page)
            lines.append(f"   {name}")
        lines.append("")
    keep(folder / "index.rst", lines)


def keep(path, lines):
    """Write a page unless it is there already, so that it is not built again."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def setup(app):
    """Write the pages of names; change docstrings before the sections of NumPy's style are read."""
    app.connect("builder-inited", write_names, priority=100)
    app.connect("autodoc-process-docstring", plain_text, priority=400)
