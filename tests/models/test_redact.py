"""Keys in texts: which variables hold one, in which forms it is found, what is left of a text."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus

import pytest

from evalbench.models.redact import MASK, environment_keys, holds, names_a_key, redactor, user_info

JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "abcDEF123_-" * 30 + "." + "Zz9" * 15
ODD = "p<4>&s\"w'o\\r d/ü+9=="
KEYS = {"jwt": JWT, "odd": ODD, "plain": "sk-very-secret-0123456789"}


def in_base64(key: str, before: int = 0) -> str:
    return base64.b64encode(b"u" * before + key.encode() + b":x").decode()


FORMS = {
    "raw": lambda key: key,
    "json": json.dumps,
    "json, not ascii": lambda key: json.dumps(key, ensure_ascii=False),
    "json in json": lambda key: json.dumps(json.dumps({"a": key}, ensure_ascii=False), ensure_ascii=False),
    "html": html.escape,
    "html, quotes kept": lambda key: html.escape(key, quote=False),
    "html in json": lambda key: json.dumps(html.escape(key), ensure_ascii=False),
    "literal": repr,
    "url": lambda key: quote(key, safe=""),
    "url, lower case": lambda key: quote(key, safe="").lower() if key == ODD else quote(key, safe=""),
    "url, slashes kept": quote,
    "form": quote_plus,
    "base64 0": in_base64,
    "base64 1": lambda key: in_base64(key, 1),
    "base64 2": lambda key: in_base64(key, 2),
    "base64 url": lambda key: base64.urlsafe_b64encode(b"user:" + key.encode()).decode(),
    "cut at the end": lambda key: key[: max(12, len(key) * 2 // 3)] + "…",
    "cut at the start": lambda key: "…" + key[-max(12, len(key) * 2 // 3) :],
    "in an exception": lambda key: str(ValueError(f"401: the key {key!r} is wrong")),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_a_key_is_found_and_taken_out(form, key, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY_BACKUP", key)
    text = f"before {form(key)} after {form(key)}"
    assert holds(text, key)
    said = redactor()(text)
    assert MASK in said
    assert said.startswith("before ")
    assert not any(holds(said, part) for part in (key, key[: len(key) // 2], key[len(key) // 2 :]))


@pytest.mark.parametrize("form", ["raw", "json", "url", "base64 0", "base64 1"])
def test_a_part_of_a_long_key_is_found_wherever_it_is_from(form, monkeypatch):
    long = "eyJhbGciOiJIUzI1NiJ9." + "".join(chr(65 + i * i % 26) + str(i) for i in range(300))
    monkeypatch.setenv("SOME_TOKEN", long)
    written = FORMS[form](long)
    for start in range(0, len(written) - 140, 60):
        part = written[start : start + 140]
        said = redactor()(f"from {part} on")
        assert holds(part, long), start
        assert said.count(MASK) == 1, start
        assert len(said) < len(f"from {MASK} on") + 8, start  # a character at the end of base64 may depend on the next


def test_an_honest_text_stays_as_it_is(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", JWT)
    monkeypatch.setenv("A_TOKEN", "test")
    monkeypatch.setenv("B_TOKEN", "1234")
    monkeypatch.setenv("C_TOKEN", "1")
    monkeypatch.setenv("D_TOKEN", "EMPTY")
    monkeypatch.setenv("E_TOKEN", "ab12")
    text = "a test of 1234 words, EMPTY lines, 1 key, xab12, ab123; eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    assert redactor()(text) == text
    assert redactor()("the key ab12, again") == f"the key {MASK}, again"


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "OPENAI_API_KEY_BACKUP", "GITHUB_PAT", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "DB_PASS",
     "MYSQL_PWD", "SENTRY_DSN", "KEY1", "api_key", "MY_SECRETS", "AZURE_CONNECTION_STRING", "CLIENTSECRET"],
)  # fmt: skip
def test_names_of_keys(name):
    assert names_a_key(name)


@pytest.mark.parametrize(
    "name", ["PATH", "PWD", "OLDPWD", "KEYBOARD", "TOKENIZERS_PARALLELISM", "max_tokens", "KEY_FILE", "TOKEN_TYPE",
             "COMPASS", "monkey", "keyword"],
)  # fmt: skip
def test_names_of_other_things(name):
    assert not names_a_key(name)


@pytest.mark.parametrize(
    ("address", "found"),
    [("postgresql://app:s3cr3t-word@db.example/x", {"app:s3cr3t-word", "s3cr3t-word"}),
     ("postgres://app:p%40ss9word@db.example/x", {"app:p%40ss9word", "p%40ss9word", "p@ss9word"}),
     ("postgresql://postgres:postgres@localhost/x", {"postgres:postgres"}),
     ("https://ghp_0123456789abcdef@git.example/x", {"ghp_0123456789abcdef"}),
     ("ssh://git@git.example/x", set()), ("postgresql://localhost/x", set())],
    ids=["password", "quoted", "word", "token", "user", "none"],  # pytest puts ids into the environment
)  # fmt: skip
def test_an_address_holds_what_is_before_its_host(address, found, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", address)
    assert {value for value, name in environment_keys().items() if name == "DATABASE_URL"} == found


@pytest.mark.parametrize(
    "value", ["password", "postgres", "Changeme", "environment", "created_at", "not-needed", "0.95", "1.0.0", "20261122",
              "1700000000", "EMPTY", "true", "us", "512"],
)  # fmt: skip
def test_words_and_numbers_are_no_keys_whatever_their_variable_is_called(value, monkeypatch):
    for name in ("SORT_KEY", "DB_PASSWORD"):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DATABASE_URL", f"postgresql://{value}@localhost/db")
    text = f"the {value} of 0.95, postgres, created_at 1.0.0"
    assert redactor()(text) == text
    assert not {"SORT_KEY", "DB_PASSWORD", "DATABASE_URL"} & set(environment_keys().values())


@pytest.mark.parametrize("value", ["abc123", "p@ss", "a1b2-c3", "AbCdEfGh", "hunter2", "correcthorsebattery"])
def test_other_values_are_keys_from_four_characters_on(value, monkeypatch):
    monkeypatch.setenv("DB_PASSWORD", value)
    assert redactor()(f"it is {value}.") == f"it is {MASK}."


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [("SOME_API_KEYS", "first-0123456789, second-0123456789", "second-0123456789"),
     ("SIGNING_KEY", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBKcwggSjAgEAAoIBAQC7VJ\n-----END", "BKcwggSjAgEAAoIBAQC7VJ"),
     ("CLOUD_CREDENTIALS", json.dumps({"id": "x", "private_key": "a\nBKcwggSjAgEAAoIBAQC7VJ\n"}), "BKcwggSjAgEAAoIBAQC7VJ"),
     ("OPENAI_CUSTOM_HEADERS", "X-Name: judge\nAuthorization: Bearer hdr-0123456789", "hdr-0123456789"),
     ("PROXY_AUTHORIZATION", "Basic dXNlcjpzZWNyZXQ5", "dXNlcjpzZWNyZXQ5"),
     ("REGISTRY_AUTH", "dXNlcjpzZWNyZXQ5", "dXNlcjpzZWNyZXQ5"),
     ("SESSION_COOKIE", "sid=0123456789abcdef; theme=dark", "0123456789abcdef")],
    ids=["several", "lines", "json", "headers", "authorization", "auth", "cookie"],
)  # fmt: skip
def test_each_key_of_a_value_with_several_is_found_alone(name, value, found, monkeypatch):
    monkeypatch.setenv(name, value)
    said = redactor()(f"refused: {found} of the judge")
    assert MASK in said
    assert found not in said


def test_a_file_is_no_key_and_no_value_is_too_odd_to_be_asked(monkeypatch, tmp_path):
    (tmp_path / "key.json").write_text("{}")
    monkeypatch.setenv("CLOUD_CREDENTIALS", str(tmp_path / "key.json"))
    monkeypatch.setenv("LONG_API_KEY", "/" + "x" * 5000)
    monkeypatch.setenv("JWT", JWT)
    monkeypatch.setenv("BYTES_KEY", "half\udcff-a-character")
    found = environment_keys().values()
    assert "CLOUD_CREDENTIALS" not in found
    assert {"LONG_API_KEY", "JWT", "BYTES_KEY"} <= set(found)
    assert redactor()("nothing") == "nothing"


@pytest.mark.parametrize(
    ("text", "found"),
    [("http://me:secret@host/v1#m", "me:secret"), ("http://me:pa@ss@host", "me:pa@ss"),
     ("see https://me:pa/ss@host", "me:pa/ss"), ("http://token@host", "token"), ("http://host:8080/v1#org/model@rev", ""),
     ("https://host.example/@user", ""), ("me@host.example", ""), ("http://host/#a@b", "")],
)  # fmt: skip
def test_user_and_password_of_an_address(text, found):
    assert user_info(text) == found


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "http://" + "@a" * 200_000, "http://" * 100_000, "http://u:" * 100_000, "://@" * 200_000, "a:" * 500_000]
)  # fmt: skip
def test_no_text_costs_more_than_linear_time(text, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", JWT)
    began = time.process_time()
    user_info(text)
    redactor()(text)
    assert time.process_time() - began < 3
