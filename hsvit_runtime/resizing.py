"""How a picture of any size becomes the input of a model that was trained elsewhere."""

import dataclasses

from hsvit_runtime.errors import InputError

FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # in the order of Pillow's numbers


@dataclasses.dataclass(frozen=True)
class Resizing:
    """A picture is resized, and then its centre cut out; where it is smaller than that, black is put around.

    Attributes:
        filter: str, one of `FILTERS`, as Pillow calls it; a filter smooths where it makes pictures smaller.
        size: int, what the shorter side becomes while the aspect is kept; or (height, width), which the
            whole picture is stretched to; None if pictures are cut alone.
    """

    filter: str = "bilinear"
    size: int | tuple | None = None

    def __post_init__(self):
        if self.filter not in FILTERS:
            raise InputError(f"filter has to be one of {', '.join(FILTERS)}; received filter={self.filter!r}")
        sides = self.size if isinstance(self.size, tuple) else (1 if self.size is None else self.size,) * 2
        if len(sides) != 2 or not all(type(side) is int and side > 0 for side in sides):
            raise InputError(
                f"size has to be a side in pixels, (height, width) or None; received size={self.size!r}"
            )

    def to_json(self):
        """dict of plain values that `from_json` reads."""
        return {"filter": self.filter, "size": list(self.size) if isinstance(self.size, tuple) else self.size}

    @classmethod
    def from_json(cls, content):
        """Makes a `Resizing` of the dict of `to_json`."""
        size = content.get("size")
        return cls(content.get("filter"), tuple(size) if isinstance(size, list | tuple) else size)

    def to_input(self, old, new):
        """The same for inputs of another size: as much of a picture is cut off.

        Args:
            old: (height, width) of the inputs that this is for.
            new: (height, width).
        """
        if self.size is None:
            return self
        ratios = [after / before for before, after in zip(old, new, strict=True)]
        if isinstance(self.size, tuple):
            size = tuple(round(side * ratio) for side, ratio in zip(self.size, ratios, strict=True))
        else:
            size = round(self.size * max(ratios))
        return dataclasses.replace(self, size=size)

    def resized_sides(self, height, width):
        """(height, width) of a picture of a size before its centre is cut out."""
        if self.size is None:
            return height, width
        if isinstance(self.size, tuple):
            return self.size
        short, long = sorted((height, width))
        longer = int(self.size * long / short)
        return (self.size, longer) if height <= width else (longer, self.size)
