"""A reply that is not 000."""

from __future__ import annotations


class Refusal(Exception):
    """Why a request gets no answer: a reply code of the wire, and one line for people."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code
        self.why = why
