"""What people see of a run: progress while it goes, tables and figures when it is done."""
