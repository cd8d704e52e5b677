"""From a figure to the items behind it: a run's rows asked for by filter, on the page, in a notebook, in the browser."""
