"""Small logs of inspect_ai, built from their parts."""

import json
import zipfile
import zlib

import pyarrow

C, I = "C", "I"  # noqa: E741


def score(value, explanation="", **further):
    return {"value": value, "answer": "a", "explanation": explanation, "history": [], **further}


def graded(value, explanation, judge="local/oak-7b", **further):
    grading = [
        {"role": "user", "content": "Is it right?"},
        {"role": "assistant", "content": explanation, "model": judge},
    ]
    return score(value, explanation, metadata={"grading": grading}, **further)


def sample(name, scores, epoch=1, **further):
    output = {
        "model": "fern-1b",
        "choices": [{"message": {"role": "assistant", "content": "ответ"}}],
        "completion": "ответ",
    }
    return {"id": name, "epoch": epoch, "input": f"Frage {name}?", "target": "x", "output": output, "scores": scores, "metadata": {}, **further}  # fmt: skip


def header(scorers=("right",), *, epochs=1, version="0.3.285", means=None, reducer=None, **further):
    listed = [
        {"name": name, "scorer": name, "metrics": {"accuracy": {"name": "accuracy", "value": value}}, **({"reducer": reducer} if reducer else {})}
        for name, value in (means or {}).items()
    ]  # fmt: skip
    return {
        "version": 2, "status": "success", "plan": {},
        "eval": {"task": "quiz", "model": "local/fern-1b", "config": {"epochs": epochs}, "packages": {"inspect_ai": version},
                 "scorers": [{"name": name, "options": {}} for name in scorers]},
        "results": {"total_samples": 1, "completed_samples": 1, "scores": listed}, **further,
    }  # fmt: skip


def as_json(path, head, samples):
    path.write_text(json.dumps({**head, "samples": samples}, ensure_ascii=False), encoding="utf-8")
    return path


def as_eval(path, head, samples, method=93, frames=1):
    """A log as a zip archive; entries of method 93 are written by hand, in one frame or several."""
    entries = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    entries |= {"summaries.json": [], "header.json": head} if head else {}
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in entries.items():
            put(archive, name, json.dumps(value, ensure_ascii=False).encode(), method, frames)
    return path


def put(archive, name, raw, method=93, frames=1, size=None):
    """One entry; ``size`` is what it declares, where that is not the truth."""
    info = zipfile.ZipInfo(name)
    if method != 93:
        info.compress_type = method
        archive.writestr(info, raw)
        return
    step = max(1, -(-len(raw) // frames))
    codec = pyarrow.Codec("zstd")
    packed = b"".join(codec.compress(raw[i : i + step], asbytes=True) for i in range(0, len(raw), step))
    archive.writestr(info, packed)  # stored, then renamed to the method that it has
    info = archive.getinfo(name)
    info.compress_type, info.file_size, info.CRC = 93, len(raw) if size is None else size, zlib.crc32(raw)
