"""Parts of my own for dreambench: classes, their tests, and their options (conf/)."""
