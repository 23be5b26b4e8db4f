"""A pipeline of Numba's compiler for functions whose arrays do not overlap; imported when one is compiled."""

from __future__ import annotations

from numba.core.compiler import Compiler


class Apart(Compiler):
    """The pipeline, ``pipeline_class=Apart``, for functions whose arrays do not overlap: their loops may be vectors.

    Numba takes that for granted in its own parallel loops and offers no option for it.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.state.flags.noalias = True
