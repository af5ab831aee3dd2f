"""One thing that a check found, printed in the form that editors understand."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"
