"""Ids by content: the same for the same, also where the same comes again."""

from __future__ import annotations

from workbench.ingest.record_ids import RecordIds


def test_an_id_follows_from_the_content_and_how_often_it_came():
    ids, again = RecordIds(), RecordIds()
    first = [ids.of(b"a"), ids.of(b"b"), ids.of(b"a")]
    assert first == [again.of(b"a"), again.of(b"b"), again.of(b"a")]
    assert len(set(first)) == 3


def test_what_is_appended_changes_no_id_before_it():
    ids = RecordIds()
    before = [ids.of(b"a"), ids.of(b"a")]
    assert [RecordIds().of(b"a")] == before[:1]
    assert ids.of(b"a") not in before
