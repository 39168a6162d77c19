"""Functions and methods of torch whose result has the shape of their first argument."""

# fmt: off
SAME_SHAPE = frozenset(
    {
        "abs", "absolute", "acos", "acosh", "add_", "alpha_dropout", "angle", "arccos", "arccosh", "arcsin",
        "arcsinh", "arctan", "arctanh", "argsort", "asin", "asinh", "atan", "atanh", "batch_norm",
        "bernoulli", "bfloat16", "bitwise_not", "bool", "bucketize", "byte", "ceil", "celu", "celu_",
        "channel_shuffle", "char", "clamp", "clamp_", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_",
        "clip", "clone", "conj", "conj_physical", "contiguous", "cos", "cosh", "cpu", "cuda", "cumprod",
        "cumsum", "deg2rad", "detach", "detach_", "digamma", "div_", "double", "dropout", "dropout1d",
        "dropout2d", "dropout3d", "dropout_", "elu", "elu_", "empty_like", "erf", "erfc", "erfcx", "erfinv",
        "exp", "exp2", "exp_", "expit", "expm1", "feature_dropout", "fftshift", "fill_", "fix", "flip",
        "fliplr", "flipud", "float", "floor", "frac", "full_like", "gammaln", "gelu", "glu_", "group_norm",
        "gumbel_softmax", "half", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "i0", "ifftshift",
        "imag", "index_add", "index_copy", "index_fill", "index_put", "instance_norm", "int", "isfinite",
        "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "leaky_relu", "leaky_relu_", "lgamma",
        "local_response_norm", "log", "log10", "log1p", "log2", "log_ndtr", "log_softmax", "logcumsumexp",
        "logical_not", "logit", "logsigmoid", "long", "masked_fill_", "masked_scatter", "matrix_power",
        "mish", "msort", "mul_", "mvlgamma", "nan_to_num", "nan_to_num_", "ndtr", "ndtri", "neg", "negative",
        "normalize", "ones_like", "poisson", "polygamma", "positive", "pow_", "prelu", "put", "rad2deg",
        "rand_like", "randint_like", "randn_like", "real", "reciprocal", "relu", "relu6", "relu_", "renorm",
        "requires_grad_", "resolve_conj", "resolve_neg", "rms_norm", "roll", "round", "rrelu", "rsqrt",
        "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "select_scatter", "selu",
        "sgn", "short", "sigmoid", "sigmoid_", "sign", "signbit", "silu", "sin", "sinc", "sinh",
        "slice_scatter", "softmax", "softmin", "softplus", "softshrink", "softsign", "sqrt", "sqrt_",
        "square", "sub_", "tan", "tanh", "tanh_", "tanhshrink", "threshold", "to", "tril", "triu", "trunc",
        "type", "type_as", "zero_", "zeros_like",
    }
)
# fmt: on

RESHAPING = frozenset(
    {"resize_", "resize_as_", "set_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"}
)
"""Methods that give a tensor another shape in place."""
