"""`report.html`: one file that shows a run, from its scores down to the sentence and the page.

`data` turns the run's tables into what the page shows, `plots` draws SVG, `write` puts both into the template. Reports and
judgments travel as compressed base64 and are shown as text nodes only: nothing of a report is ever HTML.
"""

from dreambench.reporting.page.write import write_page

__all__ = ["write_page"]
