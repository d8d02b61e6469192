"""Hardware-aware scaling, Table 12: models scaled for the throughput on V100 and for the latency on TX2.

`python -m training.figures --figure=scaling_figure6` measures what they cost here.
"""

from training.tables import scaling


def get_table():
    rows = (
        _row("V100 Scaling", "deit_scaled_v100", 78.10, 2488.81, 25.18, (13, 5, 64, 4)),
        _row("TX2 Scaling", "deit_scaled_tx2_d10", 78.17, 1984.10, 23.70, (10, 4, 64, 16)),
    )
    return scaling.table(12, rows)


def _row(name, model, top1, fps, tx2, factors):
    costs = {"FPS on V100": fps, "Latency on TX2 (ms)": tx2}
    return scaling.row(name, model, None, top1, (*factors, 160, 16), costs)
