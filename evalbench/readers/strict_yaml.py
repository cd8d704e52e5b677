"""What a YAML file holds; a key that appears twice in it is a fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.decoded import decoded
from evalbench.readers.files import read_bytes


def read_yaml(path: Path) -> Any:
    """The content of a YAML file.

    Raises ``BadInput`` if it cannot be read, is not YAML (with the line), or has a mapping with a key twice, where
    PyYAML would keep the last.
    """
    import yaml

    text = decoded(path, read_bytes(path))[0]

    class Strict(yaml.SafeLoader):
        """A key that appears twice is a fault, where PyYAML would keep the last."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for before, (key, (place, _)) in enumerate(zip(keys, node.value, strict=True)):
                if key in keys[:before]:
                    raise yaml.constructor.ConstructorError(None, None, f"{key!r} appears twice", place.start_mark)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader=Strict)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise BadInput(f"{path}: not valid YAML ({where}{getattr(error, 'problem', None) or error})") from None
    except (RecursionError, ValueError, TypeError) as error:
        raise BadInput(f"{path}: not valid YAML ({error})") from None
