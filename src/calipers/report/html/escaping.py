"""Templates that escape every value and make invisible characters visible."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from calipers.report.html.islands import visible
from calipers.report.html.languages import language


def escaping_templates(package: str) -> Environment:
    """Return the templates in the folder ``templates`` of a package.

    Every value is escaped, and characters that HTML may not hold are shown as U+FFFD; a name that
    nobody gave is an error.
    """
    environment = Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
    )
    environment.filters["language"] = language
    return environment
