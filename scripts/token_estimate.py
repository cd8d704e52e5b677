"""The weights of ``evalbench.models.tokens`` for a small vocabulary, fitted to the tokenizer of local/smollm2-135m.

Prints the weights, and the errors of the estimate on pieces of the sample data and of the prompts: ``python scripts/token_estimate.py``.
It needs the weights of the model (``evalbench models fetch local/smollm2-135m``).
"""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from scipy.optimize import nnls

from evalbench.models.local.weights import Address, address_of
from evalbench.models.names import model
from evalbench.models.tokens import counted, estimated

ROOT = Path(__file__).resolve().parents[1]
PIECE, MOST = 1500, 60_000
FILES = ("data/*/*/*.jsonl", "data/*/*/*.csv", "evalbench/models/prompts/*.jinja")


def pieces() -> list[str]:
    texts = [file.read_text(encoding="utf-8")[:MOST] for form in FILES for file in sorted(ROOT.glob(form))]
    cut = [text[at : at + PIECE] for text in texts for at in range(0, len(text), PIECE)]
    return [piece for piece in cut if piece.strip()]


def tokens(text: str, address: Address) -> int:
    connection = http.client.HTTPConnection(urlsplit(address.base_url).netloc)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {address.key}"}
    connection.request("POST", "/tokenize", json.dumps({"content": text}), headers)
    return len(json.load(connection.getresponse())["tokens"])


def main() -> None:
    texts = pieces()
    with address_of(model("local/smollm2-135m")) as address:
        true = np.array([tokens(text, address) for text in texts], float)
    counts = np.array([counted(text) for text in texts], float)
    weights, _ = nnls(counts / true[:, None], np.ones(len(true)))
    print("weights", tuple(weights.round(3).tolist()))
    found = np.array([estimated(text, small=True) for text in texts])
    low, middle, high = np.quantile(found / true - 1, [0.05, 0.5, 0.95])
    print(f"{len(texts)} pieces; error of one: median {middle:+.1%}, 90 % within {low:+.1%} to {high:+.1%}")
    print(f"error of the sum: {found.sum() / true.sum() - 1:+.2%}")


if __name__ == "__main__":
    main()
