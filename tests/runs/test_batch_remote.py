"""A scheduler and workers that share neither disk nor cache with the client."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from dask_hosts import can_make_hosts, certificates, cluster, hosts
from faultserver import fault_server
from nbformat.v4 import new_code_cell, new_notebook

from evalbench.errors import BadInput
from evalbench.report.history import read_runs
from evalbench.runs import folder as folders
from evalbench.runs.batch import Watcher, run_batch
from evalbench.runs.parcel import pack, unpack, write_folder
from evalbench.runs.provenance import package_hash
from evalbench.runs.run import plan, run
from evalbench.runs.suite import read_suite


def test_a_parcel_becomes_the_same_plan_elsewhere(bench, tmp_path):
    planned = plan("tiny", {"data": "words.csv", "k": 3}, bench, bench)
    parcel, sources = pack(planned)
    there = tmp_path / "there"
    there.mkdir()
    again = unpack(parcel, lambda sha256: sources[sha256].read_bytes(), there)
    assert again.identity == planned.identity
    assert again.parameters["data"] == str(there / "files" / "data" / "words.csv")


def test_a_parcel_of_a_catalogued_data_set_brings_its_entry(bench, tmp_path):
    from evalbench.readers.files import sha256

    raw = b"some words\n"
    (bench / "data" / "w").mkdir()
    (bench / "data" / "w" / "w.csv").write_bytes(raw)
    (bench / "data" / "catalog.yaml").write_text(
        "words@1.0.0:\n  {study: tiny, title: Words, licence: CC0-1.0, synthetic: true, card: '',"
        f" files: {{items: {{path: w/w.csv, rows: 1, sha256: {sha256(raw)}}}}}}}\n",
        encoding="utf-8",
    )
    planned = plan("tiny", {"data": "words@1.0.0"}, bench)
    parcel, sources = pack(planned)
    assert parcel.paths == {}
    assert "data/w/w.csv" in parcel.files
    there = tmp_path / "there"
    there.mkdir()
    assert unpack(parcel, lambda name: sources[name].read_bytes(), there).identity == planned.identity


def test_a_parcel_with_other_bytes_or_other_code_is_refused(bench, tmp_path):
    parcel, sources = pack(plan("tiny", {"data": "words.csv"}, bench, bench))
    there = tmp_path / "there"
    there.mkdir()
    with pytest.raises(BadInput, match="arrived with other bytes"):
        unpack(parcel, lambda sha256: b"else", there)
    with pytest.raises(BadInput, match="package or data differ"):
        unpack(parcel._replace(identity="0" * 64), lambda sha256: sources[sha256].read_bytes(), there)
    with pytest.raises(BadInput, match="leads out of the workbench"):
        unpack(parcel._replace(files={"../x": "0"}), lambda sha256: b"", there)


def test_a_folder_of_a_worker_stays_inside_and_gets_the_clients_paths(bench, tmp_path):
    with pytest.raises(ValueError, match="lies in its folder"):
        write_folder(tmp_path, {"../x": b""}, {})
    out = tmp_path / "out"
    out.mkdir()
    there, here = "/w/files/data/вод.csv", str(bench / "вод.csv")
    write_folder(out, {"run.json": json.dumps({"data": there}, ensure_ascii=False).encode()}, {there: here})
    assert folders.read_json(out / "run.json") == {"data": here}


def check_runs(bench: Path, address: str) -> None:
    (bench / "suite.yaml").write_text(
        "runs:\n"
        "  - {study: tiny, data: words.csv, parameters: {sleep: 0.3}, matrix: {k: [1, 2, 3, 4, 5]}}\n"
        "  - {study: tiny, data: words.csv, parameters: {fail: true}}\n",
        encoding="utf-8",
    )
    reports = bench / "reports"
    package_hash.cache_clear()  # somebody may have edited the package since this process hashed it
    suite = read_suite(bench / "suite.yaml", bench)
    started: list[str] = []
    outcomes = run_batch(
        suite, reports=reports, scheduler=address, watcher=Watcher(started=lambda job, worker: started.append(worker))
    )
    assert [outcome.ok for outcome in outcomes] == [True] * 5 + [False]
    assert len(set(started)) == 2, "only one worker ran"
    assert len(read_runs(reports)) == 6
    for outcome in outcomes[:5]:
        files = {path.name for path in outcome.folder.iterdir()}
        assert files == {"run.json", "results.json", "items.parquet", "notebook.ipynb", "report.html"}
        assert outcome.results["parameters"]["data"] == str(bench / "words.csv")
        assert outcome.run["run_id"] == outcome.folder.name
        for name in ("run.json", "results.json", "notebook.ipynb", "report.html"):
            assert "host1" not in (outcome.folder / name).read_text()
            assert "host2" not in (outcome.folder / name).read_text()
        # What was drawn elsewhere is trusted here, where the path in it is another.
        assert (
            f"<figcaption>Words of {bench / 'words.csv'}</figcaption>" in (outcome.folder / "report.html").read_text()
        )
    assert "asked to fail" in outcomes[5].run["error"]

    alone = run(suite[0].plan, out=bench / "alone")
    assert (alone.folder / "results.json").read_bytes() == (outcomes[0].folder / "results.json").read_bytes()
    assert (alone.folder / "items.parquet").read_bytes() == (outcomes[0].folder / "items.parquet").read_bytes()


@pytest.mark.slow
def test_workers_with_no_shared_disk_return_complete_folders(bench, tmp_path):
    with cluster(tmp_path / "hosts") as address:
        check_runs(bench, address)


ASKING = """from evalbench import record
from evalbench.core.result import DataLabel, Estimate, Result, Summary
from evalbench.core.verdict import Verdict
from evalbench.models.accounting import accounting, calls_table
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
import pandas as pd

replies = collect([Request(f"question {i} of {k}", item_id=str(i)) for i in range(5)], endpoint)
items = pd.DataFrame({"id": [r.request.item_id for r in replies], "n": [len(r.text) for r in replies], "unscored": "",
                      "undefined": ""})
figure = Estimate(metric="length", value=4.0, ci_low=4.0, ci_high=4.0, n=5, light="green", higher_is_better=True)
record(Result(study="asking", question="How long?", judged="nobody", parameters={"k": k, "endpoint": endpoint},
              data=DataLabel("none", "", "0" * 64), id="id", items=items, tables={"calls": calls_table(replies)},
              summary=Summary((figure,), Verdict("green", "5 replies", "")), accounting=accounting(replies)))"""


@pytest.mark.slow
def test_replies_that_a_worker_paid_for_are_kept_here_too(bench, tmp_path, monkeypatch):
    parameters = new_code_cell(
        'endpoint: str = ""  # a model\nk: int = 1  # what varies', metadata={"tags": ["parameters"]}
    )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = new_notebook(cells=[parameters, new_code_cell(ASKING)], metadata={"kernelspec": kernel})
    nbformat.write(book, bench / "notebooks" / "asking.ipynb")
    here = tmp_path / "here"
    monkeypatch.setenv("EVALBENCH_CACHE", str(here))
    secret = "sk-only-of-the-worker-0123456789"
    package_hash.cache_clear()
    with fault_server() as server:
        (bench / "suite.yaml").write_text(
            f"runs:\n  - {{study: asking, parameters: {{endpoint: '{server.url}#tiny'}}, matrix: {{k: [1, 2]}}}}\n",
            encoding="utf-8",
        )
        suite = read_suite(bench / "suite.yaml", bench)
        with cluster(tmp_path / "hosts", env={"EVALBENCH_API_KEY": secret}) as address:
            outcomes = run_batch(suite, reports=bench / "reports", scheduler=address)
        assert [outcome.run["cache_hits"] for outcome in outcomes] == [0, 0]
        assert server.stats()["requests"] == 10
        again = [run(job.plan, out=bench / "again") for job in suite]
        assert [folders.read_json(one.folder / "run.json")["cache_hits"] for one in again] == [5, 5]
        assert server.stats()["requests"] == 10
    assert not any(secret.encode() in file.read_bytes() for file in here.rglob("*") if file.is_file())
    assert {file.name for file in tmp_path.glob("hosts/*/home/cache/*.sqlite")} == {"replies.sqlite"}


@pytest.mark.slow
def test_workers_that_do_not_fit_are_refused_before_anything_starts(bench, tmp_path, monkeypatch):
    (bench / "suite.yaml").write_text("runs:\n  - {study: tiny, data: words.csv}\n", encoding="utf-8")
    suite = read_suite(bench / "suite.yaml", bench)
    monkeypatch.setattr(
        "evalbench.runs.cluster.own_versions", lambda: {"numpy": "0.0.1", "bytes of evalbench": "0123456789ab"}
    )
    with cluster(tmp_path / "hosts", n_threads=2) as address, pytest.raises(BadInput) as error:
        run_batch(suite, reports=bench / "reports", scheduler=address)
    said = str(error.value)
    assert "nothing was started" in said
    assert "start it with --nthreads 1" in said
    assert "the client has 0.0.1" in said
    assert "bytes of evalbench" in said
    assert not list((bench / "reports").glob("*/*"))


@pytest.mark.slow
def test_workers_in_network_namespaces_over_tls(bench, tmp_path, monkeypatch):
    if not can_make_hosts():
        pytest.skip("network namespaces cannot be made here")
    keys = certificates(tmp_path / "keys")
    with hosts() as prefix, cluster(
        tmp_path / "hosts", *keys.options, address="tls://10.97.0.1:8786", prefix=((), *prefix)
    ) as address:  # fmt: skip
        for name, value in keys.client.items():
            monkeypatch.setitem(__import__("evalbench.runs.cluster", fromlist=["SETTINGS"]).SETTINGS, name, value)
        check_runs(bench, address)
