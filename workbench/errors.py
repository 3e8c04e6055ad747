"""Every error that workbench raises on purpose.

WorkbenchError                 base; the command line prints its message and exits with ``exit_code``
├── ConfigError                a configuration value or file cannot be used
├── NotFoundError              a session, table or file that was asked for is not there
├── AmbiguousError             a prefix or name fits several things
├── BadInputError              an argument or a foreign file is not what it should be
├── QueryError                 SQL that DuckDB refuses
├── EmbedderUnavailableError   the model that turns texts into vectors is not there or does not answer
├── RerankerUnavailableError   the model that scores a query and a text together is not there or does not fit
├── StoreError                 our own data cannot be read or written
│   ├── NewerHomeError         the home was made by a newer workbench
│   ├── BusyError              another process holds what is needed
│   ├── VanishedError          files of a version were removed while it was being read
│   ├── SchemaError            rows do not fit the declared table
│   └── ConflictError          other processes kept committing first
└── EventLogError              an event log cannot be read or appended to

A message says what was asked, what was found, and what to do next.
"""

from __future__ import annotations


class WorkbenchError(Exception):
    """Base of every deliberate error; `exit_code` is what the command line returns."""

    exit_code: int = 1


class ConfigError(WorkbenchError):
    """A configuration value or file cannot be used."""

    exit_code = 2


class NotFoundError(WorkbenchError):
    """What was asked for does not exist."""

    exit_code = 3


class AmbiguousError(WorkbenchError):
    """A prefix or name fits more than one thing."""

    exit_code = 3


class BadInputError(WorkbenchError):
    """An argument or a foreign file is not what it should be."""

    exit_code = 2


class QueryError(WorkbenchError):
    """DuckDB refused the query."""

    exit_code = 2


class EmbedderUnavailableError(WorkbenchError):
    """The model that turns texts into vectors is not there, is not the one expected, or does not answer."""

    exit_code: int = 3


class RerankerUnavailableError(WorkbenchError):
    """The model that scores a query and a text together is not there, or is not such a model."""

    exit_code: int = 3


class StoreError(WorkbenchError):
    """Our own data cannot be read or written."""

    exit_code = 4


class NewerHomeError(StoreError):
    """The home was made by a newer workbench."""


class BusyError(StoreError):
    """Another process holds what is needed, and did not let go in time."""


class VanishedError(StoreError):
    """Files of a version were removed, for `forget`, while it was being read; the newest version has others."""


class SchemaError(StoreError):
    """Rows do not fit the declared table."""


class ConflictError(StoreError):
    """Other processes kept committing first, until patience ran out."""


class EventLogError(StoreError):
    """An event log cannot be read or appended to."""
