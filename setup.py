"""Compiles the modules that have to touch every record; everything else is in pyproject.toml.

Without a C compiler they run as plain Python: see docs/decisions/0009-record-checks.md.
"""

from Cython.Build import cythonize
from setuptools import Extension, setup

# Bounds stay checked: what it walks over comes from the network.
DIRECTIVES = {
    "annotation_typing": False,
    "boundscheck": True,
    "language_level": 3,
    "wraparound": False,
}

extensions = cythonize(
    [
        Extension(f"penstock.records.{name}", [f"src/penstock/records/{name}.py"])
        for name in ("column", "walk")
    ],
    build_dir="build",
    compiler_directives=DIRECTIVES,
)
for extension in extensions:
    extension.optional = True

setup(ext_modules=extensions)
