"""Tools: what lets a judge do what the author could. A tool set is one option of the group `tools`."""
