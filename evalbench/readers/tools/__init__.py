"""Result files of other tools, read into one shape; a module per tool."""
