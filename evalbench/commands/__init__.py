"""The subcommands of ``evalbench``, one module each."""
