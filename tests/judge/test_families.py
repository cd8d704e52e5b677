"""Families of models by name."""

from __future__ import annotations

import pytest

from evalbench.judge.families import families_of, related


@pytest.mark.parametrize(
    ("name", "vendor", "family"),
    [
        ("openai/gpt-4o", "OpenAI", "gpt"),
        ("gpt4_1106_preview", "OpenAI", "gpt"),
        ("ChatGPT-0301/CoT", "OpenAI", "gpt"),
        ("ChatGPT-0301", "OpenAI", "gpt"),
        ("text_davinci_003", "OpenAI", "gpt"),
        ("o3-mini", "OpenAI", "o-series"),
        ("Claude-3.5 Sonnet", "Anthropic", "claude"),
        ("meta-llama/Meta-Llama-3-8B", "Meta", "llama"),
        ("ollama/llama3.1:8b", "Meta", "llama"),
        ("Mixtral-8x7B-Instruct-v0.1", "Mistral", "mistral"),
        ("Qwen2.5-72B", "Alibaba", "qwen"),
        ("GigaChat-Max", "Sber", "gigachat"),
        ("YandexGPT-5", "Yandex", "yandexgpt"),
        ("http://127.0.0.1:8000/v1#gemma2", "Google", "gemma"),
        ("function:mira_large", "", "mira"),
        ("Мира-большая", "", "мира"),
    ],
)
def test_a_family_by_name(name: str, vendor: str, family: str) -> None:
    assert families_of(name) == {(vendor, family)}


@pytest.mark.parametrize("name", ["model-a", "system_2", "", "42", "ab", "function:first", "recorded", "local"])
def test_names_that_say_nothing(name: str) -> None:
    assert not families_of(name)
    assert related(name, name) == ""


@pytest.mark.parametrize(
    ("judge", "model", "how"),
    [
        ("gpt-4", "gpt-j-6b", ""),
        ("gemini-1.5-pro", "gemma-2-9b", "vendor"),
        ("mira-large", "mira-tiny", "family"),
        ("mira-large", "tarn-tiny", ""),
        ("deepseek-chat", "deepseek-r1-distill-llama-70b", "family"),
        ("microsoft/Phi-3", "philosopher-7b", ""),
        ("openai/gpt-4o", "o1", "vendor"),
    ],
)
def test_relations(judge: str, model: str, how: str) -> None:
    assert related(judge, model) == how
    assert related(model, judge) == how
