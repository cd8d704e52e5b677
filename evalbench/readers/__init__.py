"""Files, frames and folders of runs to checked tables; the catalog of data."""
