"""Whether something is None that the source tells nothing of: no trace is safe by a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judges.test_trace_consequences import verdict

HELD = "x * int(x.sum())"
DECIDES = {
    "a branch": f"if FOUND is None:\n        return {HELD}\n    return x",
    "what follows": f"if FOUND is not None:\n        return x\n    x = x + 1\n    return {HELD}",
    "an expression": f"return x if FOUND is not None else {HELD}",
    "an operand": "return x * (FOUND is None and int(x.sum()))",
}
SAME = {
    "both sides are followed": "if FOUND is None:\n        return x * 2\n    return x",
    "a list on the other side": "parts = [x]\n    if FOUND is None:\n        parts.append(x)\n"
    "    return torch.cat(parts)",
}


@pytest.mark.parametrize("name", [*DECIDES, *SAME])
def test_a_guess_is_no_promise(tmp_path: Path, name: str) -> None:
    body = {**DECIDES, **SAME}[name]
    source = f"import os\nimport re\nFOUND = re.match(os.environ['PATTERN'], 'b')\n\n\ndef f(x: torch.Tensor):\n    {body}"
    assert verdict(tmp_path, source) == ("unknown" if name in DECIDES else "safe")
