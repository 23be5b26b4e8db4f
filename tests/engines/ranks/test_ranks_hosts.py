"""Machines that fall silent are named, and those that leave in order are not: with beats that go through a list."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from typing import Any

import pytest

from bigbfs.engines.ranks import hosts
from bigbfs.engines.ranks.hosts import OtherHosts

# a thread that has ended all would have ended itself with them: here it leaves by an exception
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


class Post:
    """What carries beats between the machines of a test; ``cut`` holds those whose letters get lost."""

    def __init__(self) -> None:
        self.boxes: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.cut: set[int] = set()

    def of(self, mine: int) -> Any:
        return Box(self, mine)


class Box:
    def __init__(self, post: Post, mine: int) -> None:
        self._post, self._mine, self.closed = post, mine, False

    def send(self, to: int, beat: int) -> bool:
        if not {to, self._mine} & self._post.cut:
            self._post.boxes[self._mine, to].append(beat)
        return True

    def arrived(self, source: int) -> int:
        box = self._post.boxes[source, self._mine]
        found, box[:] = (box[-1] if box else 0), []
        return found

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def say_and_end(text: str, end: Any) -> None:
        found.append((end, text))
        raise SystemExit  # the thread ends, as the process would

    monkeypatch.setattr(hosts, "say_and_end", say_and_end)
    return found


def watchers(post: Post, limit: float) -> dict[int, OtherHosts]:
    names = {0: "host a (ranks 0, 1)", 2: "host b (rank 2)", 3: "host c (ranks 3, 4)"}
    return {
        mine: OtherHosts([(other, names[other]) for other in names if other != mine], post.of(mine), mine, limit)  # type: ignore[arg-type]  # who ended
        for mine in names
    }


def test_a_machine_that_falls_silent_is_named_by_all_others(said: list[tuple[Any, str]]) -> None:
    post = Post()
    made = watchers(post, 1.0)
    time.sleep(1.5)
    assert said == []
    post.cut.add(2)
    deadline = time.monotonic() + 30
    while len({end for end, _ in said}) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    by = dict(said)
    assert by[0] == by[3] == "host b (rank 2) has not been heard of for 1 s: it has stopped, or the link is cut"
    # to it, it is the others who are gone, and either may be the first that it misses
    assert by[2].startswith(("host a (ranks 0, 1) has not been heard of", "host c (ranks 3, 4) has not been heard of"))
    for each in made.values():
        each._thread.join(10)
        assert not each._thread.is_alive()


def test_machines_that_leave_in_order_are_not_named(said: list[tuple[Any, str]]) -> None:
    made = watchers(Post(), 2.0)
    closing = [threading.Thread(target=each.close) for each in made.values()]
    for number, each in enumerate(closing):
        each.start()
        time.sleep(0.2 * number)
    for each in closing:
        each.join(20)
        assert not each.is_alive()
    assert said == [] and all(each._mail.closed for each in made.values())


def test_one_that_stood_still_itself_listens_afresh(
    said: list[tuple[Any, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(hosts.time, "monotonic", lambda: clock[0])
    post = Post()
    made = OtherHosts([(1, "host b (rank 1)")], post.of(0), lambda code: None, 5.0)
    threading.Event().wait(0.6)
    clock[0] += 1000  # this process was stopped, not the other
    threading.Event().wait(0.6)
    assert said == []
    clock[0] += 2.0
    threading.Event().wait(0.6)
    clock[0] += 2.4
    threading.Event().wait(0.6)
    assert said == []
    clock[0] += 2.0
    made._thread.join(30)
    assert len(said) == 1
