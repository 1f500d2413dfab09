"""`view`: runs on disk, running ones included, in a browser. Reads, and changes nothing.

`tally` follows a journal as it grows, `board` knows the runs of a folder and how each stands, `pages` makes HTML of that, and
`server` answers over HTTP. All that a run's files hold is foreign text: it is escaped, and only names found by listing the
folder are ever opened.
"""

from dreambench.reporting.live.server import ViewServer, serve

__all__ = ["ViewServer", "serve"]
