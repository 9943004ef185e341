"""Every command of ``weir`` with its arguments and options, from the command line itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from docs.site.reference.markdown import code, page, prose, table
from orchestration.cli.main import COMMANDS, command_of

INTRO = """What `weir COMMAND --help` says, of every command. [commands.md](../commands.md) has an overview, the exit
codes and the settings."""


def commands() -> str:
    """The page ``commands.md``."""
    return page("Commands", INTRO, *[section(*one) for one in every()])


def every() -> Iterator[tuple[str, click.Command]]:
    """The commands, and in place of a group those in it, each with all its words."""
    for name, command in ((name, command_of(name)) for name in COMMANDS):
        if isinstance(command, click.Group):
            for part, one in command.commands.items():
                yield f"weir {name} {part}", one
        else:
            yield f"weir {name}", command


def section(path: str, command: click.Command) -> str:
    """One command."""
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"## {code(path)}\n", f"```text\n{usage}\n```\n", help_of(command)]
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    if options:
        rows = [[words(one), default_of(one, context), prose(one.help or "")] for one in options]
        parts.append(table(["option", "default", "means"], rows))
    return "\n".join(parts)


def help_of(command: click.Command) -> str:
    """The command's help; what is indented in it is a line to be typed."""
    written = prose(inspect.cleandoc(command.help or "").replace("\b", ""))
    return re.sub(r"(?m)^ {4}(\S.*)$", r"```shell\n\1\n```", written) + "\n"


def words(option: click.Option) -> str:
    """How the option is written."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return code(names)
    if isinstance(option.type, click.Choice):
        return code(f"{names} {'|'.join(map(str, option.type.choices))}")
    return code(f"{names} {option.metavar or option.type.name.upper()}")


def default_of(option: click.Option, context: click.Context) -> str:
    """The default, as the help shows it."""
    if option.required:
        return "**needed**"
    shown = option.show_default
    if isinstance(shown, str):
        return shown
    value = option.get_default(context, call=False)
    return code(str(value)) if shown and not callable(value) else ""
