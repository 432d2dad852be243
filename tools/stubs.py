"""Write the type stub cwtool_ext/NAME.pyi of every kernel module from its source NAME.pyx.

With --check nothing is written: the names of the stubs that differ from what the sources say are
printed, and the exit code is 1 if there are any. Cython's own parser reads the sources, and ruff
formats the stubs. A C type becomes the Python type that a caller passes. A return type is that of
the annotation (`def f(int n) -> int:`), or the C type of a cpdef function, or else Any. Names with
one underscore in front are left out; a module without other names gets no stub.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from Cython.CodeWriter import ExpressionWriter
from Cython.Compiler.TreeFragment import parse_from_strings

SOURCES = sorted((Path(__file__).parents[1] / "cwtool_ext").glob("*.pyx"))
CLASSES = {n: p.stem for p in SOURCES for n in re.findall(r"(?m)^cdef class (\w+)", p.read_text())}
DTYPES = {"double": "float64", "float": "float32", "int": "intc", "unsigned int": "uintc"}
DTYPES |= {"char": "int8", "unsigned char": "uint8", "Py_ssize_t": "intp", "size_t": "uintp"}
DTYPES |= {f"{u}int{bits}_t": f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)}
TYPES = {name: "float" if "float" in dtype else "int" for name, dtype in DTYPES.items()}
TYPES |= {name: name for name in ("str", "bytes", *CLASSES)} | {"bint": "bool", "void": "None"}
TYPES |= {"list": "list[Any]", "tuple": "tuple[Any, ...]", "dict": "dict[Any, Any]"}
TEXT = "bytes | bytearray | memoryview | NDArray[np.uint8]"  # for const unsigned char[::1]
DEFAULT = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?|None|True|False")  # any other is shown as ...
DECORATOR = re.compile(r"property|staticmethod|classmethod|\w+\.setter")
HIDDEN = re.compile(r"_(?!_)\w*|__(cinit|dealloc|getbuffer|releasebuffer)__")
IMPORTS = {"Any": "from typing import Any\n", "np": "import numpy as np"}
IMPORTS |= {"NDArray": "from numpy.typing import NDArray\n"}


def imports(names: set[str]) -> Iterator[str]:
    """The lines that import these names, one for each module."""
    yield from (line for name, line in IMPORTS.items() if name in names)
    for module in sorted(set(CLASSES.values())):
        if own := sorted(name for name in names if CLASSES.get(name) == module):
            yield f"from cwtool_ext.{module} import {', '.join(own)}"


def written(node: Any) -> str:
    """The source text of an expression or annotation; Any for one that Cython cannot write."""
    try:
        return str(ExpressionWriter().write(getattr(node, "expr", node)))
    except Exception:
        return "Any"


def statements(body: Any) -> Iterator[Any]:
    """The statements of a module or class, in order."""
    for node in getattr(body, "stats", [body]):
        yield from statements(node) if hasattr(node, "stats") else [node]


def named(node: Any) -> str:
    """The name that is declared, be it a pointer, an array or a function."""
    return str(node.name) if hasattr(node, "name") else named(node.base)


def python_type(node: Any) -> str:
    """The Python type of what a caller passes for a C type."""
    item = getattr(node, "base_type_node", None)
    if item is None:  # not a memoryview
        return TYPES.get(getattr(node, "name", ""), "Any")
    plain = getattr(item, "base_type", item)  # without const
    name = plain.name if plain.signed else f"unsigned {plain.name}"
    if name == "unsigned char" and plain is not item:
        return TEXT
    return (
        f"NDArray[np.{DTYPES[name]}]" if name in DTYPES and not plain.longness else "NDArray[Any]"
    )


def argument(node: Any) -> str:
    """An argument of a function: its name, type and default."""
    name = named(node.declarator) or node.base_type.name  # `x` alone, in a cpdef function
    hint = written(node.annotation) if node.annotation else python_type(node.base_type)
    if not node.default:
        return name if name in ("self", "cls") else f"{name}: {hint}"
    default = written(node.default)
    hint += " | None" if default == "None" and hint != "Any" else ""
    return f"{name}: {hint} = {default if DEFAULT.fullmatch(default) else '...'}"


def function(node: Any) -> Iterator[str]:
    """A def or cpdef function or method, with the decorators that matter to a caller."""
    made = getattr(node, "declarator", node)  # a cpdef function has its name and arguments there
    name, parts = named(made), [argument(item) for item in made.args]
    if HIDDEN.fullmatch(name):
        return
    if made is not node:
        result = python_type(node.base_type)
    else:
        note = node.return_type_annotation
        result = "None" if name == "__init__" else written(note) if note else "Any"
        result = re.sub(r"\blist\b(?!\[)", "list[Any]", result)
        if node.star_arg or node.num_kwonly_args:
            star = f"*{node.star_arg.name}: Any" if node.star_arg else "*"
            parts.insert(len(parts) - node.num_kwonly_args, star)
        parts += [f"**{node.starstar_arg.name}: Any"] if node.starstar_arg else []
    marks = [written(item.decorator) for item in node.decorators or ()]
    yield from (f"@{mark}" for mark in marks if DECORATOR.fullmatch(mark))
    yield f"def {name}({', '.join(parts)}) -> {result}: ..."


def lines(nodes: list[Any], declared: list[Any], in_class: bool = False) -> Iterator[str]:
    """The stub of a module or class with these statements, and with those of its .pxd."""
    both = nodes + declared
    items = [item for node in both for item in getattr(node, "items", ())]
    enums = [item.name for item in items if hasattr(item, "name")]  # others are imported names
    whole = re.compile("|".join([r"[-\d+*() ]", "//", "<<", *enums]))  # parts of an integer
    in_c = {named(item) for node in both for item in getattr(node, "declarators", ())}
    shown = [node for node in declared if in_class or getattr(node, "create_wrapper", False)]
    for node in nodes + shown:
        kind = type(node).__name__
        if kind == "DefNode" or (kind == "CFuncDefNode" and node.overridable):
            yield from function(node)
        elif kind in ("CClassDefNode", "PyClassDefNode"):
            name = getattr(node, "class_name", None) or node.name
            same = [n for n in declared if getattr(n, "class_name", "") == name]
            fields = [field for n in same for field in statements(n.body)]
            bases = ", ".join(written(base) for base in getattr(node.bases, "args", ()))
            yield f"class {name}({bases}):"
            members = list(lines(list(statements(node.body)), fields, True))
            yield from (f"    {line}" for line in members or ["..."])
        elif kind == "CEnumDefNode" and node.create_wrapper:
            yield from (f"{item.name}: int" for item in node.items)
        elif kind == "CVarDefNode" and in_class and node.visibility in ("public", "readonly"):
            hint = python_type(node.base_type)
            yield from (f"{named(item)}: {hint}" for item in node.declarators)
        elif kind == "SingleAssignmentNode" and hasattr(node.lhs, "annotation"):
            name, note, value = node.lhs.name, node.lhs.annotation, written(node.rhs)
            hint = written(note) if note else "Any" if whole.sub("", value) else "int"
            if value != "Any" and name not in in_c and not HIDDEN.fullmatch(name):
                yield f"{name}: {hint}"


def stub(source: Path) -> str:
    """The text of the stub of a module; empty if Python sees none of its names."""
    header = source.with_suffix(".pxd")
    texts = source.read_text(), header.read_text() if header.exists() else ""
    code, declared = (list(statements(parse_from_strings("m", text).body)) for text in texts)
    if not (body := "\n".join(lines(code, declared))):
        return ""
    names = set(re.findall(r"\w+", body)) - {n for n in CLASSES if CLASSES[n] == source.stem}
    head = f"# Generated from {source.name} by tools/stubs.py.\n"
    text = "\n".join([head, *imports(names), "", body])
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "stub.pyi", "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout


def main(check: bool) -> int:
    """Write all stubs and remove those without a source, or only print the names of the stale."""
    package = SOURCES[0].parent
    wanted = dict.fromkeys(package.glob("*.pyi"), "")
    wanted |= {source.with_suffix(".pyi"): stub(source) for source in SOURCES}
    stale = [p for p in sorted(wanted) if wanted[p] != (p.read_text() if p.exists() else "")]
    for path in stale:
        print(path.relative_to(package.parent))
        if not check:
            path.write_text(wanted[path]) if wanted[path] else path.unlink()
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
