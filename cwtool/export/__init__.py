"""Linear models in the forms of other programs. One file a format: `text` gives lines, or `data`
bytes."""

# format -> its module, and the settings of a model that it cannot express
FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "liblinear": ("liblinear", ("hash_bits", "normalize", "zero_based")),
    "json": ("as_json", ()),
    "tsv": ("tsv", ("hash_bits",)),
    "sql": ("sql", ("hash_bits",)),
    "python": ("as_python", ()),
    "onnx": ("as_onnx", ("hash_bits",)),
    "vw": ("vw", ("hash_bits", "normalize")),
}
BINARY = ("onnx", "vw")
