from __future__ import annotations

import pytest

from .harness import ADAPTERS, DATA, HarnessError, Topic, read_topics, write_files


def test_files_are_written_byte_for_byte(tmp_path):
    files = {"a/b.txt": "one\r\ntwo\n\u2028é", "empty": "", "raw.bin": {"base64": "AP8K"}}
    write_files(files, tmp_path)
    assert (tmp_path / "a/b.txt").read_bytes() == b"one\r\ntwo\n\xe2\x80\xa8\xc3\xa9"
    assert (tmp_path / "empty").read_bytes() == b""
    assert (tmp_path / "raw.bin").read_bytes() == b"\x00\xff\n"


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../x", "a/../../x", "..", ".", "", "link/x"])
def test_a_path_that_leads_out_is_refused(tmp_path, path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(HarnessError, match="unsafe path"):
        write_files({path: "text"}, folder)
    assert [file.name for file in tmp_path.iterdir()] == ["files"]


@pytest.mark.parametrize("content", [None, 3, {}, {"base64": "AA==", "mode": "x"}])
def test_content_of_another_form_is_refused(tmp_path, content):
    with pytest.raises(HarnessError, match="expected a text"):
        write_files({"a": content}, tmp_path)


def test_ids_are_unique_within_a_topic():
    topic = Topic("front-matter", [{"name": "a b"}, {"name": "a-b"}])
    assert topic.ids() == ["front_matter__a_b", "front_matter__a_b_2"]


def test_a_folder_without_cases_is_an_error(tmp_path):
    with pytest.raises(HarnessError, match="no cases"):
        read_topics(tmp_path)


def test_every_adapter_has_its_cases_in_the_data_folder():
    adapters = {file.stem for file in ADAPTERS.glob("[!_]*.py")}
    assert adapters <= {topic.slug for topic in read_topics(DATA)}
