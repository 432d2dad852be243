"""The reference of JSON events: a page and a JSON Schema, from cwtool/cli/events.py."""

from __future__ import annotations

import json

from markdown_text import MADE, cell

from cwtool.cli import events

OPEN = "cell"  # an event whose other keys depend on the suite


def key_rows(keys: tuple[str, ...]) -> list[str]:
    lines = ["| key | type | meaning |", "|---|---|---|"]
    return lines + [
        f"| `{key}` | {events.KEYS[key].type} | {cell(events.KEYS[key].meaning)} |" for key in keys
    ]


def events_page() -> str:
    """The events of --json and of logs, with their keys."""
    lines = [MADE, "", "# JSON events", "", events.ABOUT, ""]
    lines += ["[events.schema.json](events.schema.json) is the JSON Schema of a line.", ""]
    lines += ["## All events", "", "Besides `event`, an event may have:", ""]
    lines += key_rows(events.STAMP)
    for name, event in events.EVENTS.items():
        own = [key for key in event.keys if key not in events.STAMP]
        metrics = [key for key in own if key in events.METRICS]
        if len(metrics) == len(events.METRICS):
            own = [key for key in own if key not in events.METRICS]
            more = "It has the [metrics](#metrics)" + (" and:" if own else ".")
        else:
            more = "It has:" if own else ""
        lines += ["", f"## {name}", "", f"{event.meaning} Printed by {event.commands}. {more}", ""]
        lines += key_rows(tuple(own)) if own else []
    lines += ["", "## Metrics", ""]
    lines += key_rows(events.METRICS)
    lines += ["", "## Parts of keys", ""]
    for key, parts in events.PARTS.items():
        lines += [f"`{key}`", ""]
        lines += [f"- `{part}`: {cell(meaning)}" for part, meaning in parts.items()]
        lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def events_schema() -> str:
    """The JSON Schema of a line, for programs: a line for each key and each event."""
    types = {"text": "string", "whole number": "integer", "number": "number", "list": "array"}
    keys = {"event": {"enum": list(events.EVENTS)}}
    for name, key in events.KEYS.items():
        kinds = [types.get(word, word) for word in key.type.split(" or ")]
        keys[name] = {"type": [*kinds, "null"], "description": key.meaning}
    kinds_of_lines = [
        {
            "title": event.meaning,
            "properties": {"event": {"const": name}},
            "propertyNames": {"enum": ["event", *event.keys]},
        }
        for name, event in events.EVENTS.items()
        if name != OPEN
    ]
    kinds_of_lines.append({"properties": {"event": {"const": OPEN}}})
    listed = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(key)}" for name, key in keys.items())
    shown = ",\n  ".join(json.dumps(kind) for kind in kinds_of_lines)
    return (
        '{\n "$schema": "https://json-schema.org/draft/2020-12/schema",\n'
        ' "title": "Events of cwtool",\n "type": "object",\n "required": ["event"],\n'
        f' "properties": {{\n  {listed}\n }},\n "oneOf": [\n  {shown}\n ]\n}}\n'
    )
