"""One notebook to one folder of files; many on Dask."""
