from command_line.tables import table


def test_numbers_stand_to_the_right_and_words_to_the_left():
    rows = [("deit", "int8", "1,234", "+0.5"), ("c2a2_large", "float32", 7, None)]
    assert table(("model", "preset", "bytes", "points"), rows).splitlines() == [
        "model       preset   bytes  points",
        "deit        int8     1,234    +0.5",
        "c2a2_large  float32      7       -",
    ]


def test_the_first_column_stands_to_the_left_even_if_it_holds_numbers():
    assert table(("n", "ms"), [("1", "2.5"), ("10", "12.5")]).splitlines() == [
        "n     ms",
        "1    2.5",
        "10  12.5",
    ]


def test_without_rows_there_is_the_heading():
    assert table(("model", "bytes"), []) == "model  bytes"
