"""Values that a name suggests: they order the guesses; what the code does with a parameter decides."""

from __future__ import annotations

import re

_NAMES: list[tuple[str, tuple[str, ...]]] = [
    (r"n_?dims?|spatial_dims|dimensions", ("2", "64")),
    (r"(.*_)?(classes|n_class|labels|num_outputs)", ("10",)),
    (r"(.*_)?(channels?|chans?|chs?|ch)|in_c|n?c", ("3", "64", "16")),
    (r"(.*_)?(image|img|crop)_?size|(.*_)?resolution|input_size_hw", ("64", "(64, 64)", "224")),
    (r"(.*_)?patch(_size)?", ("8", "(8, 8)", "16", "4")),
    (r"(.*_)?frames?", ("8",)),
    (r"(.*_)?(dim_head|head_dim|d_k|d_v|d_head|dim_key|dim_value|head_size)", ("16",)),
    (r"(.*_)?n?heads?", ("4",)),
    (r"(.*_)?(n?layers?|n?blocks|depths?|repeats?|stages)", ("2", "(1, 1, 1, 1)", "(2, 2)")),
    (r"(.*_)?(mlp_dim|feedforward|ffn_dim|d_ff|d_inner|intermediate_size)", ("128",)),
    (r"(.*_)?(mlp_ratio|mult|expansion|expand_ratio|factor)", ("2",)),
    (r"n?vocab(_size)?|(.*_)?(vocab_size|tokens?|ntoken|embeddings|dictionary_size)", ("100",)),
    (r"(.*_)?(seq_?len(gth)?|max_len(gth)?|block_size|context_length|length|patches|positions?)", ("64", "16")),
    (r"(.*_)?(kernel(_size)?|ks|filter_size)|k", ("3", "(3, 3)", "1")),
    (r"kernel_sizes", ("(3, 5)",)),
    (r"(.*_)?strides?|s", ("1", "(1, 1)", "2")),
    (r"(.*_)?padding|pad", ("1", "0")),
    (r"(.*_)?dilation", ("1",)),
    (r"(.*_)?groups|cardinality", ("4", "1")),
    (r"(.*_)?window(_size)?", ("4", "8", "(4, 4)")),
    (r"(.*_)?(fmap_size|feat_size|grid_size)", ("(8, 8)", "8", "16")),
    (r"(.*_)?shape", ("(64, 64)", "(3, 64, 64)")),
    (r"size|(.*_)?(scale_factor|upscale|reduction(_ratio|_factor)?|scales?)|factor|ratio|r", ("4", "2", "(8, 8)")),
    (
        r"(.*_)?(dropout|drop|prob|pdrop|p|rate|ratio|eps|epsilon|momentum|alpha|beta|gamma|temperature|slope|decay|"
        r"threshold|tau|std|range)",
        ("0.1", "0.5"),
    ),
    (
        r"(use|is|has|with|no|return|output|causal|learn|enable)_.*|(.*_)?(flag|enabled|bidirectional|bias|residual|"
        r"inplace|batch_first|training|causal|distil|attention)",
        ("True", "False"),
    ),
    (r"(.*_)?norm(_layer|_class|_cls|_type)?", ("nn.LayerNorm", "nn.BatchNorm2d", "'batch'")),
    (r"(.*_)?(act|activation|nonlinearity)(_layer|_fn|_func|_class)?", ("nn.ReLU", "nn.ReLU()", "F.relu", "'relu'")),
    (r"(.*_)?(fn|func|function)|f", ("nn.Identity()", "torch.relu")),
    (r"(net|model|module|layer|block|backbone|encoder|decoder|network|body)|to_.*", ("nn.Identity()", "nn.Linear(64, 64)")),
    (r"modules|layers|blocks|nets|branches|convs|models", ("[nn.Identity()]",)),
    (r"(.*_)?(mode|type|name|variant|arch|pool(ing)?)", ("'mean'", "'default'")),
    (r"i|n|m|(num|n|max|min|nb|top)_.*|(.*_)?(num|idx|index|id|steps|count|len)|layer_index", ("4", "2")),
    (r".*", ("64", "16", "3")),
]  # fmt: skip


def by_name(name: str) -> tuple[str, ...]:
    """Expressions, the likeliest first; sizes where the name says nothing."""
    lowered = name.lower().strip("_")
    return next(values for pattern, values in _NAMES if re.fullmatch(pattern, lowered))
