"""Names of models: what is refused, where each leads, what aliases add; no key in anything shown."""

from __future__ import annotations

import pytest

from evalbench.errors import BadInput
from evalbench.models.endpoint import is_another_model
from evalbench.models.llm import EndpointFault, Limits, Price, aliases, ask, client, model
from evalbench.models.names import folder_aliases

KEYS = (
    "OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_VERSION",
    "OPENAI_API_VERSION", "GEMINI_API_KEY", "OLLAMA_HOST", "EVALBENCH_API_KEY", "EVALBENCH_MODELS",
)  # fmt: skip


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch, tmp_path):
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "a model's name is one of openai/MODEL"),
        ("gpt-4o", "is not a model name"),
        ("nobody/gpt-4o", "is not a model name"),
        ("openai/", "is not a model name"),
        ("baseline/lexical", "is not a model name"),
        ("http://127.0.0.1:8000/v1", "write the model after a #"),
        ("http://#m", "not of the form"),
        ("http://host:99999999/v1#m", "not an address"),
        ("https://host/v1?key=abc#m", "a query"),
        ("https://ho st/v1#m", "blanks or control"),
        ("azure/mine", "needs AZURE_OPENAI_ENDPOINT"),
        ("local/gpt-5", "known are local/smollm2-135m"),
        ("local:/nowhere/x.gguf", "no such file"),
    ],
)
def test_refuses_what_is_no_model(name, said):
    with pytest.raises(BadInput, match=said):
        model(name)


def test_refuses_addresses_with_user_info_and_does_not_repeat_them():
    with pytest.raises(BadInput) as refused:
        model("https://ann:s3cret-s3cret@host/v1?x=1#m")
    assert "holds a user or a password" in str(refused.value)
    assert "a query" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_refuses_a_file_that_is_no_gguf(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(BadInput, match="not a GGUF file"):
        model(f"local:{tmp_path}/x.gguf")


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OLLAMA_HOST", "AZURE_OPENAI_ENDPOINT"])
def test_refuses_user_info_from_the_environment_too(monkeypatch, variable):
    monkeypatch.setenv(variable, "https://ann:s3cret-s3cret@host")
    name = {"OPENAI_BASE_URL": "openai/x", "OLLAMA_HOST": "ollama/x", "AZURE_OPENAI_ENDPOINT": "azure/x"}[variable]
    with pytest.raises(BadInput, match=f"{variable} is refused") as refused:
        model(name)
    assert "s3cret" not in str(refused.value)


def test_names_lead_to_their_endpoints(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.example.net/")
    cases = {
        "openai/gpt-4o": ("https://api.openai.com/v1", "gpt-4o", "OPENAI_API_KEY"),
        "azure/dep": ("https://mine.example.net/openai/v1", "dep", "AZURE_OPENAI_API_KEY"),
        "gemini/flash": ("https://generativelanguage.googleapis.com/v1beta/openai", "flash", "GEMINI_API_KEY"),
        "ollama/llama3.1:8b": ("http://127.0.0.1:11434/v1", "llama3.1:8b", ""),
        "http://[::1]:8000/v1/#org/m": ("http://[::1]:8000/v1", "org/m", "EVALBENCH_API_KEY"),
        "local/smollm2-135m": ("", "smollm2-135m", ""),
    }
    for name, expected in cases.items():
        found = model(name)
        assert (found.base_url, found.id, found.key_env) == expected, name
        assert found.name == name


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box:1234", "http://box:1234/v1"),
        ("https://box", "https://box:443/v1"),
        ("http://[::1]:9", "http://[::1]:9/v1"),
    ],
)
def test_ollama_host_in_its_usual_spellings(monkeypatch, given, base):
    monkeypatch.setenv("OLLAMA_HOST", given)
    assert model("ollama/x").base_url == base


def test_azure_with_a_dated_interface(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.example.net")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-azure-key")
    monkeypatch.setenv("AZURE_OPENAI_API_VERSION", "2025-01-01")
    found = model("azure/dep")
    assert (found.base_url, found.api_version) == ("https://mine.example.net", "2025-01-01")
    assert "azure-key" not in repr(found)
    assert type(client(found)).__name__ == "AsyncAzureOpenAI"


def test_a_missing_key_is_named_before_anything_is_sent():
    with pytest.raises(EndpointFault, match="openai/gpt-4o needs a key: set OPENAI_API_KEY"):
        ask("hello", "openai/gpt-4o", cache=False)


def test_the_key_is_not_part_of_the_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented-0001")
    found = model("openai/gpt-4o")
    assert found.key == "sk-invented-0001"
    assert "sk-invented" not in repr(found)


def test_aliases_add_price_limits_and_context(tmp_path, monkeypatch):
    (tmp_path / "models.toml").write_text(
        '[judge]\nname = "http://127.0.0.1:1/v1#m"\nprice = {input = 2.5, output = 10}\n'
        "requests_per_minute = 30\ntokens_per_minute = 1000.5\nconcurrency = 3\ncontext = 8192\n"
    )
    found = model("judge")
    assert found.name == "judge"
    assert found.id == "m"
    assert found.price == Price(2.5, 10.0)
    assert found.limits == Limits(30, 1000.5, 3)
    assert found.context == 8192
    monkeypatch.setenv("EVALBENCH_MODELS", str(tmp_path / "none.toml"))
    with pytest.raises(BadInput, match="is not a file"):
        model("judge")


def test_all_faults_of_the_aliases_at_once(tmp_path):
    (tmp_path / "models.toml").write_text(
        'loose = 3\n[a]\napi_key = "sk-1"\nprice = {input = -1, output = 2}\n[b]\nname = "openai/x"\n'
        'requests_per_minute = 0\nconcurrency = 1.5\ncontext = "8k"\n'
        '[c]\nname = "openai/x"\nconcurrency = true\n'
    )
    with pytest.raises(BadInput) as refused:
        aliases()
    said = str(refused.value)
    for part in (
        "loose: expected a table", "a: unknown setting 'api_key'", "a: name is missing", "a: price is",
        "b: requests_per_minute is a number above 0", "b: concurrency is a whole number", "b: context is a whole number",
        "c: concurrency is a whole number",
    ):  # fmt: skip
        assert part in said, part
    assert "sk-1" not in said


def test_a_file_that_is_no_toml(tmp_path):
    (tmp_path / "models.toml").write_text("[[")
    with pytest.raises(BadInput, match="not readable as TOML"):
        model("judge")


def test_ask_gives_one_reply(server):
    reply = ask("what is it?", server.url + "#tiny", cache=False)
    assert (reply.text, reply.served_by, reply.unscored) == ("fine", "tiny-2026", "")
    reply = ask(
        [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}], model(server.url + "#tiny")
    )
    assert reply.value is None


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert ask("past the proxy", server.url + "#tiny", cache=False, max_retries=0).text == "fine"


@pytest.mark.parametrize(
    ("asked", "served", "another"),
    [
        ("openai/gpt-4o", "gpt-4o", False),
        ("openai/gpt-4o", "GPT-4o", False),
        ("openai/gpt-4o", "gpt-4o-2024-08-06", False),
        ("openai/gpt-4", "gpt-4-0613", False),
        ("openai/gpt-4", "gpt-4-1106-preview", False),
        ("openai/gpt-4-0613", "gpt-4", False),
        ("openai/gpt-4o-latest", "gpt-4o-2024-11-20", False),
        ("gemini/gemini-1.5-flash", "models/gemini-1.5-flash-002", False),
        ("ollama/llama3.1", "llama3.1:latest", False),
        ("http://127.0.0.1:1/v1#org/tiny", "/weights/tiny.gguf", False),
        ("openai/gpt-4o", "", False),
        ("azure/mine", "gpt-4o", False),
        ("openai/gpt-4o", "gpt-4o-mini", True),
        ("openai/gpt-4o-mini", "gpt-4o", True),
        ("openai/gpt-4", "gpt-4.1", True),
        ("openai/gpt-4", "gpt-4-turbo-2024-04-09", True),
        ("openai/gpt-4-0613", "gpt-4-0314", True),
        ("ollama/llama3.1:8b", "llama3.1:70b", True),
        ("http://127.0.0.1:1/v1#tiny", "huge", True),
    ],
)
def test_another_model_than_asked_for_is_told_from_a_build_of_it(monkeypatch, asked, served, another):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.example.net/")
    assert is_another_model(model(asked), served) is another


@pytest.mark.parametrize("alias", ["openai/gpt-4o", "http://127.0.0.1/v1#m", "local:x", "gemini/a"])
def test_an_alias_may_not_take_the_place_of_a_provider(tmp_path, alias):
    (tmp_path / "models.toml").write_text(f'["{alias}"]\nname = "http://127.0.0.1:9911/v1#gpt-4o"\n')
    with pytest.raises(BadInput, match="must not begin with"):
        model(alias)


def test_where_an_alias_of_the_current_folder_leads_is_said_once(tmp_path, monkeypatch, capsys):
    file = tmp_path / "models.toml"
    file.write_text('[judge]\nname = "http://127.0.0.1:9911/v1#gpt-4o"\n')
    model("judge"), model("judge")
    assert capsys.readouterr().err == f"{file} defines the model judge: gpt-4o at 127.0.0.1:9911\n"
    assert folder_aliases(["other"]) == []
    monkeypatch.setenv("EVALBENCH_MODELS", str(file))
    assert folder_aliases(["judge"]) == []
