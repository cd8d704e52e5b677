"""Samples of lm-eval with a pair of filters, with repeats, and of choices: python of_lm_eval.py FOLDER,

in an environment with ``lm-eval==0.4.13``.
"""

import json
import os
import sys
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
DOCS = [
    {"question": "When does the ferry leave?", "answer": "six", "right": 0, "level": "easy"},
    {"question": "Сколько мостов?", "answer": "4", "right": 1, "level": "hard"},
]
GENERATED = """task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {docs}}}}}
test_split: test
output_type: generate_until
doc_to_text: "Q: {{{{question}}}}\\nA:"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"], do_sample: false}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
{more}
metadata: {{version: 1.0}}
"""
FILTERS = """filter_list:
  - {name: strict-match, filter: [{function: regex, regex_pattern: "(six)"}, {function: take_first}]}
  - {name: flexible-extract, filter: [{function: regex, regex_pattern: "(l.l)"}, {function: take_first}]}"""
CHOICES = """task: mill_choices
dataset_path: json
dataset_kwargs: {{data_files: {{test: {docs}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "Q: {{{{question}}}}\\nA:"
doc_to_choice: [at six, four of them]
doc_to_target: right
metric_list: [{{metric: acc, higher_is_better: true}}]
metadata: {{version: 1.0}}
"""

if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    tasks = folder / "tasks"
    tasks.mkdir(parents=True)
    docs = tasks / "docs.jsonl"
    docs.write_text("".join(json.dumps(doc, ensure_ascii=False) + "\n" for doc in DOCS), encoding="utf-8")
    for task, more in (("mill_filters", FILTERS), ("mill_repeats", "repeats: 3")):
        (tasks / f"{task}.yaml").write_text(GENERATED.format(task=task, docs=docs, more=more), encoding="utf-8")
    (tasks / "mill_choices.yaml").write_text(CHOICES.format(docs=docs), encoding="utf-8")
    from lm_eval.__main__ import cli_evaluate

    sys.argv = ["lm_eval", "--model", "dummy", "--tasks", "mill_filters,mill_repeats,mill_choices", "--include_path", str(tasks),
                "--output_path", str(folder / "out"), "--log_samples", "--seed", "1"]  # fmt: skip
    cli_evaluate()
    for made in (folder / "out").rglob("*.json*"):
        text = made.read_text(encoding="utf-8").replace(str(folder), "FOLDER")
        made.unlink()
        (folder / made.name).write_text(text, encoding="utf-8")
