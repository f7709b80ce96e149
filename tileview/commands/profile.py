"""``tileview profile``: the re-estimated timeline in the compiler's own schema, for other tools to read."""

from __future__ import annotations

import sys

from tileview.commands.base import CONSOLE, Arguments, complain, emit, verdict_code
from tileview.commands.output import write_file
from tileview.commands.subject import compared, load_subject, overrides_of
from tileview.errors import PlanError
from tileview.formats.timeline_writer import timeline_chunks
from tileview.model.names import visible_json
from tileview.model.timeline_file import TimelineFile


def run_profile(arguments: Arguments) -> int:
    """Write the timeline to a file or to standard output; 0, 1 or 3 by the verdict."""
    subject = compared(load_subject(arguments.file, overrides_of(arguments)))
    timeline = subject.timeline
    if timeline is None:
        raise PlanError(f"{arguments.file}: {subject.verdict.text}; there is no timeline to write")
    options = subject.source.options if isinstance(subject.source, TimelineFile) else ()
    chunks = timeline_chunks(timeline, options)
    if arguments.output is None:
        binary = getattr(sys.stdout, "buffer", None)
        if binary is None:
            emit(b"".join(chunks).decode("utf-8"))
        else:
            CONSOLE.flush()
            if sys.stdout.isatty():  # names in it can do nothing to the terminal
                chunks = (visible_json(chunk.decode("utf-8")).encode() for chunk in chunks)
            CONSOLE.write_bytes(chunks)
    else:
        write_file(arguments.output, chunks, arguments.file)
    subject.close()
    if not subject.verdict.fits:
        is_known = "does not fit" if subject.verdict.fits is False else "may or may not fit"
        complain(f"{arguments.file} {is_known}: {subject.verdict.text}")
    return verdict_code(subject.verdict.fits)
