"""The classes of Tensors that stand for a dtype, as ``torch.FloatTensor`` does (torch/_tensor_docs.py, torch/__init__.py)."""

LEGACY_TYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
