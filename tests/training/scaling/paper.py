"""The paper's numbers, and its FLOPs by a formula: all of a distilled model, with both extra tokens."""

from training.scaling.factors import PIT

# FLOPs in G of Tables 2 and 13; Table 1 for the start.
DEIT_FLOPS = {
    "deit_scaled_start": "0.15",
    "deit_tiny": "1.26",
    "deit_small": "4.62",
    "deit_base": "17.66",
    "deit_scaled_tiny": "1.22",
    "deit_scaled_small": "4.79",
    "deit_scaled_tiny_rp": "1.22",
    "deit_scaled_small_rp": "4.79",
}
# Table 8
PIT_FLOPS = {
    "pit_xs": "1.41",
    "pit_scaled_tiny": "0.70",
    "pit_scaled_xs": "1.38",
    "pit_scaled_small": "3.04",
}


def deit_flops(factors):
    """Multiply-adds of a distilled DeiT with 1000 classes."""
    dim = factors["num_heads"] * factors["head_dim"]
    patches = (factors["image_size"] // factors["patch_size"]) ** 2
    tokens = patches + 2
    projections = tokens * dim * dim * (4 + 2 * factors["mlp_ratio"])
    embedding = patches * 3 * factors["patch_size"] ** 2 * dim
    return factors["depth"] * (projections + 2 * tokens**2 * dim) + embedding + 2 * dim * 1000


def pit_flops(factors):
    """Multiply-adds of a distilled PiT with 1000 classes."""
    arguments, patch = PIT.arguments(factors), factors["patch_size"]
    dims = [heads * factors["head_dim"] for heads in arguments["num_heads"]]
    side = (factors["image_size"] - patch) // arguments["patch_stride"] + 1
    total = side**2 * 3 * patch**2 * dims[0] + 2 * dims[-1] * 1000
    for stage, (depth, dim) in enumerate(zip(arguments["depths"], dims, strict=True)):
        if stage:  # a depthwise convolution of 3 x 3 for the map, a linear layer for both extra tokens
            side = (side - 1) // 2 + 1
            total += side**2 * 9 * dim + 2 * dims[stage - 1] * dim
        tokens = side**2 + 2
        total += depth * (tokens * dim * dim * (4 + 2 * factors["mlp_ratio"]) + 2 * tokens**2 * dim)
    return total
