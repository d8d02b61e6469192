"""Whether the models of a bundle fit together, for the program that writes it and the one that reads it."""

from hsvit_runtime.errors import InputError


def check_outputs(name, outputs, first):
    """Raises `InputError` unless a model gives the outputs of the first model of its bundle.

    Args:
        name: str or path, what the errors call the model.
        outputs: list of dicts, its `outputs` in `bundle.json`.
        first: dict, the first model in `bundle.json`; None for that one itself.
    """
    if first is None:
        return
    names_matter = len(outputs) > 1
    given, expected = (_told(tensors, names_matter) for tensors in (outputs, first["outputs"]))
    if given != expected:
        raise InputError(
            f"{name} has the outputs {', '.join(given)}, which must be those of {first['file']}, "
            f"{', '.join(expected)}"
        )


def _told(outputs, with_names):
    return [f"{tensor['name'] if with_names else ''}{tensor['shape']}" for tensor in outputs]


def check_classes(name, outputs, rule, class_names):
    """Raises `InputError` unless there is a class name for each class of a model.

    Args:
        name: str or path, what the errors call the model.
        outputs: list of dicts, its `outputs` in `bundle.json`.
        rule: dict, `detection` in `bundle.json`, or None.
        class_names: list of str; empty where they are not known.
    """
    shapes = {tensor["name"]: tensor["shape"] for tensor in outputs}
    for role in () if rule is None else ("scores", "boxes", "classes"):
        if rule[role] is not None and rule[role] not in shapes:
            raise InputError(
                f"{name}: detection.{role}={rule[role]!r} must be an output, {' or '.join(shapes)}"
            )
    if rule is not None:
        counts = None if rule["classes"] else shapes[rule["scores"]][-1]
    else:
        counts = outputs[0]["shape"][-1] if len(outputs) == 1 else None
    if class_names and counts is not None and counts != len(class_names):
        raise InputError(f"{name} gives {counts} classes, but class_names are {len(class_names)}")
