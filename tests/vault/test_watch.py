import threading
import time

from workbench.vault.watch import changes


def test_what_changes_in_the_vault_or_behind_its_links_is_told_and_hidden_files_are_not(tmp_path):
    root, outside = tmp_path / "vault", tmp_path / "elsewhere"
    (root / ".obsidian").mkdir(parents=True)
    outside.mkdir()
    (root / "linked").symlink_to(outside)
    stop, told = threading.Event(), []
    watching = threading.Thread(target=lambda: told.extend(changes(root, stop, debounce_ms=50)))
    watching.start()
    time.sleep(0.5)  # until the system watches
    (root / ".obsidian/workspace.json").write_text("x")
    time.sleep(0.5)
    assert told == []
    (root / "a.md").write_text("x")
    wait_for(lambda: len(told) == 1)
    (outside / "b.md").write_text("x")
    wait_for(lambda: len(told) == 2)
    stop.set()
    watching.join(timeout=10)
    assert not watching.is_alive()


def wait_for(condition):
    until = time.monotonic() + 10
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    assert condition()
