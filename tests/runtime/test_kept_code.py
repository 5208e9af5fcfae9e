"""Code that is no kernel's is made as kernels are: under the lock that a fork waits for."""

from __future__ import annotations

import threading

import pytest

from dynamis.runtime import jit
from dynamis.runtime.code_image import CodeImage, flat
from dynamis.runtime.kept_code import kept_code
from dynamis.runtime.locks import COMPILING

_TEXT = "define i64 @seven() nounwind {\n  ret i64 7\n}\n"


@pytest.mark.skipif(not flat(), reason="flat images are made on x86-64 systems with ELF objects")
def test_code_is_compiled_while_no_fork_can_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_image = jit.compile_image
    free: list[bool] = []

    def watched(text: str) -> CodeImage:
        other = threading.Thread(target=lambda: free.append(COMPILING.acquire(blocking=False)))
        other.start()
        other.join()
        return compile_image(text)

    monkeypatch.setattr(jit, "compile_image", watched)
    monkeypatch.setenv("DYNAMIS_CACHE", "off")
    assert "seven" in kept_code(lambda: _TEXT, "test").entries
    assert free == [False]
