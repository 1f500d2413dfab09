"""What `new` writes, one folder per part: working files in which the names `new_part` and `my_parts` are replaced."""
