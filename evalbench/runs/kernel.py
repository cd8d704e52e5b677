"""Execute one notebook in a kernel of its own, over sockets of its own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

Notebook = Any


class Ended(NamedTuple):
    """How an execution ended.

    Attributes
    ----------
    status : str
        ``ok``, ``failed``, ``died`` or ``timeout``; ``ok`` only says that no exception was seen.
    error : str
        Exception and message; empty when ok.
    kind : str
        The exception's class name as the kernel said it.
    """

    status: str
    error: str = ""
    kind: str = ""


def execute(
    notebook: Path, out: Path, parameters: Mapping[str, Any], env: Mapping[str, str], timeout: float | None = None,
    progress: bool = False,
) -> Ended:  # fmt: skip
    """Run a notebook's cells and write the executed notebook.

    Parameters
    ----------
    notebook, out : Path
        What is executed and where it is written, cell by cell.
    parameters : mapping
        Injected after the cell tagged ``parameters``.
    env : mapping
        Further environment variables of the kernel.
    timeout : float, optional
        Seconds for the whole notebook.
    progress : bool
        Show a bar of cells.

    Returns
    -------
    Ended
        papermill writes a notebook whose every cell says completed even when its kernel died or ran out of time; only the
        exception tells.
    """
    import nbformat
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError
    from papermill.execute import execute_notebook

    node = nbformat.read(notebook, as_version=4)
    with _sockets() as options:
        try:
            execute_notebook(
                node,
                str(out).replace("{", "{{").replace("}", "}}"),  # papermill formats its paths
                parameters=dict(parameters),
                engine_name=_engine(),
                kernel_name="python3",
                progress_bar=progress,
                kernel_env={**os.environ, **env},
                deadline=time.monotonic() + timeout if timeout else None,
                **options,
            )
        except PapermillExecutionError as error:
            return Ended("failed", f"{error.ename}: {error.evalue}", str(error.ename))
        except DeadKernelError as error:
            return Ended("died", f"the kernel died ({error})", "DeadKernelError")
        except CellTimeoutError:
            return Ended("timeout", f"not done within {timeout:g} s", "CellTimeoutError")
        except RuntimeError as error:
            if "Kernel" not in str(error) and "kernel" not in str(error):
                raise
            return Ended("died", f"the kernel did not start ({error})", "DeadKernelError")
    return Ended("ok")


@contextmanager
def _sockets() -> Iterator[dict[str, Any]]:
    """Kernel options for IPC sockets in a fresh short folder; parallel TCP kernels race for ports."""
    from traitlets.config import Config

    if sys.platform == "win32":
        yield {}
        return
    folder = tempfile.mkdtemp(prefix="eb-", dir="/tmp" if os.access("/tmp", os.W_OK) else None)  # noqa: S108
    config = Config()
    config.KernelManager.transport = "ipc"
    config.KernelManager.ip = f"{folder}/k"
    try:
        yield {"config": config}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _engine() -> str:
    """papermill's engine with a kernel environment and one deadline for all cells, registered once."""
    from papermill.clientwrap import PapermillNotebookClient
    from papermill.engines import NBClientEngine, papermill_engines

    name = "evalbench"
    if name in papermill_engines._engines:
        return name

    class Engine(NBClientEngine):
        @classmethod
        def execute_managed_notebook(
            cls, nb_man: Any, kernel_name: str, *, kernel_env: dict[str, str], deadline: float | None,
            start_timeout: int = 60, config: Any = None, **_: Any,
        ) -> Any:  # fmt: skip
            def left(_: Any) -> int | None:
                return None if deadline is None else max(1, int(deadline - time.monotonic()))

            client = PapermillNotebookClient(
                nb_man, kernel_name=kernel_name, startup_timeout=start_timeout, timeout_func=left,
                **({"config": config} if config is not None else {}),
            )  # fmt: skip
            return client.execute(env=kernel_env)

    papermill_engines.register(name, Engine)
    return name
