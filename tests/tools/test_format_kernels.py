"""The layout of the kernels: what is there is in the style, and what is not is named or mended."""

import format_kernels
import pytest

pytest.importorskip("clang_format", reason="clang-format is one of the packages for development")


@pytest.mark.wide
def test_every_kernel_is_in_the_style(capsys):
    assert format_kernels.main(["--check"]) == 0, capsys.readouterr().out
    assert len(format_kernels.kernel_files()) > 30


def test_a_stray_brace_is_named_and_then_mended(tmp_path, capsys):
    kernel = tmp_path / "bad.cu"
    kernel.write_text("DEVICE u32 twice( u32 x )\n{ return 2*x; }\n")
    assert format_kernels.main(["--check", str(kernel)]) == 1
    assert "bad.cu: not in the style" in capsys.readouterr().out
    assert format_kernels.main([str(kernel)]) == 0
    assert kernel.read_text() == "DEVICE u32 twice(u32 x) { return 2 * x; }\n"


def test_a_comment_that_is_too_long_is_named_with_its_line(tmp_path, capsys):
    kernel = tmp_path / "long.cu"
    kernel.write_text("// short\n// " + "long " * 30 + "\n")
    assert format_kernels.main([str(kernel)]) == 1
    assert "long.cu:2: 152 characters, 120 at most" in capsys.readouterr().out
