"""Sessions that read files and later read some of them again: enough for a study to have something to score."""

import random

from transcripts import call, jsonl, prompt, response, result

SUBJECTS = ("otter", "heron", "maple", "basalt", "violin", "quartz", "lantern", "saddle")


def reading_session(number, reads, **about):
    """A session that reads files, each a name and what it is about."""
    about = {"session": f"00000000-0000-4000-8000-{number:012}"} | about
    yield prompt(f"p{number}", "Look around, please.", **about)
    for place, (name, subject) in enumerate(reads):
        read = f"toolu_{number}_{place}"
        shown = " ".join(f"line {line} of {subject}{line % 7} {place}" for line in range(60))
        seconds = 2 * place + 1
        yield response(
            f"r{number}_{place}",
            f"msg_{number}_{place}",
            call(read, "Read", file_path=f"/p/{name}.py"),
            seconds=seconds,
            **about,
        )
        yield prompt(f"t{number}_{place}", [result(read, shown)], seconds=seconds + 1, **about)


def write_reading_sessions(folder, count):
    """Some sessions, all alike; the last three reads are the first three again, when these are out of sight."""
    reads = [(name, "file") for name in "abcdefabc"]
    return _write(folder, [reading_session(number, reads) for number in range(count)])


def write_telling_sessions(folder, count):
    """Some sessions by two people, where a note on a subject comes before the file on it is read again, mostly."""
    draw = random.Random(7)
    sessions = []
    for number in range(count):
        reads = [(each, each) for each in draw.sample(SUBJECTS, 7)]
        for again, _ in draw.sample(reads[:5], 3):
            subject = again if draw.random() < 0.8 else draw.choice(SUBJECTS)
            reads += [(f"note_{again}", subject), (again, again)]
        sessions.append(reading_session(number, reads, cwd=f"/home/{'ann' if number % 2 else 'bob'}/work"))
    return _write(folder, sessions)


def _write(folder, sessions):
    folder.mkdir(parents=True, exist_ok=True)
    for number, lines in enumerate(sessions):
        (folder / f"{number}.jsonl").write_bytes(jsonl(*lines))
    return folder
