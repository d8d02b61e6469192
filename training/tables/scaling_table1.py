"""Hardware-aware scaling, Table 1: the model that the search starts from; its accuracy is not printed."""

from training.tables import scaling
from training.tabulating.paper import Row


def get_table():
    start = Row(
        "Starting point",
        "deit_scaled_start",
        multiply_adds="0.15 G",
        others={
            "d": 6, "h": 2, "e": 64, "r": 4, "I": 160, "p": 16, "Throughput on V100 (FPS)": 20086,
            "Latency on Pixel3 (ms)": 30.05, "Latency on TX2 (ms)": 4.42,
        },
        image_size=160,
    )  # fmt: skip
    return scaling.table(1, (start,))
