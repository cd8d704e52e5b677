"""Pages at addresses that strangers wrote, fetched with a guard."""
