"""Functions and methods of torch whose result has the shape of their first argument."""

# fmt: off
SAME_SHAPE = frozenset(
    {
        "abs", "absolute", "acos", "acosh", "add_", "alpha_dropout", "angle", "argsort", "asin", "asinh",
        "atan", "atanh", "batch_norm", "bernoulli", "bfloat16", "bool", "byte", "ceil", "celu", "celu_",
        "char", "clamp", "clamp_", "clamp_max", "clamp_min", "clip", "clone", "contiguous", "cos", "cosh",
        "cpu", "cuda", "cumprod", "cumsum", "deg2rad", "detach", "detach_", "digamma", "div_", "double",
        "dropout", "dropout1d", "dropout2d", "dropout3d", "dropout_", "elu", "elu_", "empty_like", "erf",
        "erfc", "erfinv", "exp", "exp_", "expm1", "feature_dropout", "fill_", "flip", "fliplr", "flipud",
        "float", "floor", "frac", "full_like", "gelu", "glu_", "group_norm", "gumbel_softmax", "half",
        "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "index_add", "index_copy", "index_fill",
        "instance_norm", "int", "isfinite", "isinf", "isnan", "leaky_relu", "leaky_relu_", "lgamma",
        "local_response_norm", "log", "log10", "log1p", "log2", "log_softmax", "logical_not", "logit",
        "logsigmoid", "long", "masked_fill_", "masked_scatter", "mish", "mul_", "nan_to_num",
        "nan_to_num_", "neg", "negative", "normalize", "ones_like", "positive", "pow_", "prelu", "rad2deg",
        "rand_like", "randint_like", "randn_like", "real", "reciprocal", "relu", "relu6", "relu_",
        "requires_grad_", "rms_norm", "roll", "round", "rrelu", "rsqrt", "scatter", "scatter_",
        "scatter_add", "scatter_add_", "scatter_reduce", "selu", "short", "sigmoid", "sigmoid_", "sign",
        "silu", "sin", "sinc", "sinh", "softmax", "softmin", "softplus", "softshrink", "softsign", "sqrt",
        "sqrt_", "square", "sub_", "tan", "tanh", "tanh_", "tanhshrink", "threshold", "to", "tril", "triu",
        "trunc", "type", "type_as", "zero_", "zeros_like",
    }
)
# fmt: on
