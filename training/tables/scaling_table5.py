"""Hardware-aware scaling, Table 5: models scaled for one device on another one.

`python -m training.figures --figure=scaling_figure6` measures what they cost here.
"""

from training.tables import scaling


def get_table():
    rows = (
        _row("Pixel3 Scaling, e 108", "deit_scaled_pixel3_e108", 74.8, 20.91, 181.07, (16, 2, 108, 4)),
        _row("TX2 Scaling, d 6", "deit_scaled_tx2_d6", 74.0, 14.44, 275.06, (6, 4, 64, 16)),
        _row("TX2 Scaling, d 10", "deit_scaled_tx2_d10", 78.2, 23.70, 456.41, (10, 4, 64, 16)),
        _row("Pixel3 Scaling, e 142", "deit_scaled_pixel3_e142", 77.5, 27.43, 297.58, (16, 2, 142, 4)),
    )
    return scaling.table(5, rows)


def _row(name, model, top1, tx2, pixel3, factors):
    costs = {"Latency on TX2 (ms)": tx2, "Latency on Pixel3 (ms)": pixel3}
    return scaling.row(name, model, None, top1, (*factors, 160, 16), costs)
