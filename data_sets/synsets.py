"""Readable names for classes that are WordNet ids, such as n01440764."""

import collections


def read_words(path, separator):
    """Reads lines of an id, `separator` and its words: {id: words}."""
    lines = path.read_text().splitlines()
    return dict(line.split(separator, 1) for line in lines if separator in line)


def class_names(ids, words):
    """Names classes by the first of their words.

    Args:
        ids: list of WordNet ids.
        words: {id: "one name, another, ..."}; an id that is not in it keeps its id as name.

    Returns:
        tuple of str, the id added where two classes would have the same name.
    """
    names = [words.get(one, one).split(",")[0].strip() for one in ids]
    count = collections.Counter(names)
    return tuple(
        name if count[name] == 1 else f"{name} ({one})" for one, name in zip(ids, names, strict=True)
    )
