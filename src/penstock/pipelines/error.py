"""Everything that pipelines raise of their own accord, and nothing else.

    PipelineError
    ├── SetupError          Java, the connector jars or pyspark are not as they must be
    ├── SessionError        a Spark session runs already, and it is not the one asked for
    ├── DeclarationError    a pipeline is declared in a way that cannot run
    ├── RunError            a pipeline cannot start, or stopped by itself
    │   └── AlreadyRunningError
    ├── PoisonError         this record will never work: to the dead letters with it
    └── TransientError      it may work later: try again, then to the dead letters

Each message is one line and says what to do. The last two are raised by a user's own functions.
"""

from __future__ import annotations


class PipelineError(Exception):
    pass


class SetupError(PipelineError):
    pass


class SessionError(PipelineError):
    pass


class DeclarationError(PipelineError):
    pass


class RunError(PipelineError):
    pass


class AlreadyRunningError(RunError):
    pass


class PoisonError(PipelineError):
    pass


class TransientError(PipelineError):
    pass
