"""Small files that each declare one thing, a table or a figure of a paper: listed and loaded by name."""

import importlib
import pkgutil
import re

from hsvit_runtime.errors import InputError


def list_declarations(package, function):
    """Names of the modules of a package that have a function, by paper and number.

    Args:
        package: module of the folder.
        function: str, such as "get_table".
    """
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    found = [name for name in names if hasattr(_module(package, name), function)]
    return sorted(
        found, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
    )


def load_declaration(package, function, name, option):
    """What the function of a module gives.

    Args:
        package, function: as those of `list_declarations`.
        name: str, the module.
        option: str, the flag by which the user names it, such as "--table".

    Raises:
        InputError: there is no such module.
    """
    known = list_declarations(package, function)
    if name not in known:
        from hsvit_keras.models.registry import suggest

        raise InputError(f"{option}: there is no {option.strip('-')} {name!r}; {suggest(name, known)}")
    return getattr(_module(package, name), function)()


def _module(package, name):
    return importlib.import_module(f"{package.__name__}.{name}")
