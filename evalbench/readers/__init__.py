"""Files, frames and folders of runs to checked tables; the catalog of data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalbench.core.imports import modules_of

if TYPE_CHECKING:
    from evalbench.readers import anchors as anchors
    from evalbench.readers import brat as brat
    from evalbench.readers import cards as cards
    from evalbench.readers import catalog as catalog
    from evalbench.readers import cells as cells
    from evalbench.readers import corrections as corrections
    from evalbench.readers import credibility as credibility
    from evalbench.readers import dataset as dataset
    from evalbench.readers import dealt as dealt
    from evalbench.readers import decoded as decoded
    from evalbench.readers import delimited as delimited
    from evalbench.readers import entities as entities
    from evalbench.readers import excel as excel
    from evalbench.readers import files as files
    from evalbench.readers import finding as finding
    from evalbench.readers import folder as folder
    from evalbench.readers import former as former
    from evalbench.readers import frames as frames
    from evalbench.readers import grouping as grouping
    from evalbench.readers import gsm8k as gsm8k
    from evalbench.readers import labels as labels
    from evalbench.readers import large as large
    from evalbench.readers import listed as listed
    from evalbench.readers import nested as nested
    from evalbench.readers import nq as nq
    from evalbench.readers import offsets as offsets
    from evalbench.readers import paragraphs as paragraphs
    from evalbench.readers import parameters as parameters
    from evalbench.readers import parquet as parquet
    from evalbench.readers import rankings as rankings
    from evalbench.readers import renames as renames
    from evalbench.readers import replies as replies
    from evalbench.readers import role_names as role_names
    from evalbench.readers import role_values as role_values
    from evalbench.readers import roles as roles
    from evalbench.readers import runs as runs
    from evalbench.readers import schema as schema
    from evalbench.readers import side_by_side as side_by_side
    from evalbench.readers import sides as sides
    from evalbench.readers import spans as spans
    from evalbench.readers import strangers as strangers
    from evalbench.readers import strict_yaml as strict_yaml
    from evalbench.readers import tables as tables
    from evalbench.readers import tagged as tagged
    from evalbench.readers import tools as tools
    from evalbench.readers import trec as trec
    from evalbench.readers import verdicts as verdicts
    from evalbench.readers import wide as wide
    from evalbench.readers import written as written
    from evalbench.readers.dataset import Dataset as Dataset
    from evalbench.readers.schema import Column as Column
    from evalbench.readers.schema import Table as Table

__getattr__ = modules_of(__name__, dataset="Dataset", schema="Column Table")
