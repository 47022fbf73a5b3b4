"""xstreamcast completion: a script that completes commands, options and values in a shell."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.manual import Described, Option, described

SHELLS: Final = ("bash", "zsh", "fish")


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "shell", choices=SHELLS, help="source the output: source <(xstreamcast completion bash)"
    )


def main(arguments: Parsed) -> int:
    commands = list(described())
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]
    sys.stdout.writelines(f"{line}\n" for line in write(commands))
    return 0


def _bash(commands: list[Described]) -> Iterator[str]:
    """One function: a case for each command, inside it a case for each option with choices."""
    yield "_xstreamcast() {"
    yield '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""'
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'    COMPREPLY=($(compgen -W "{_names(commands)} --help --version" -- "$cur")); return'
    yield "  fi"
    yield '  case "${COMP_WORDS[1]}:$prev" in'
    for command in commands:
        for option in command.options:
            if option.choices:
                at = "|".join(f"{command.name}:{flag}" for flag in option.flags)
                yield f'    {at}) words="{" ".join(option.choices)}" ;;'
            elif option.value:
                yield f"    {'|'.join(f'{command.name}:{flag}' for flag in option.flags)}) ;;"
    yield "    *) "
    yield '      case "${COMP_WORDS[1]}" in'
    for command in commands:
        flags = " ".join(flag for option in command.options for flag in option.flags)
        choices = " ".join(command.choices)
        yield f'        {command.name}) words="{" ".join(filter(None, (flags, choices)))}" ;;'
    yield "      esac ;;"
    yield "  esac"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$cur"))'
    yield "}"
    yield "complete -o default -o bashdefault -F _xstreamcast xstreamcast xsc"


def _zsh(commands: list[Described]) -> Iterator[str]:
    """The bash completion, which zsh understands through bashcompinit."""
    yield "autoload -U +X compinit && compinit -u"
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from _bash(commands)


def _fish(commands: list[Described]) -> Iterator[str]:
    for program in ("xstreamcast", "xsc"):
        start = f"complete -c {program}"
        for command in commands:
            help = _quoted(command.help)
            yield f"{start} -n __fish_use_subcommand -a {command.name} -d {help}"
            for option in command.options:
                here = f"-n '__fish_seen_subcommand_from {command.name}'"
                yield f"{start} {here} {_fish_option(option)} -d {_quoted(option.help)}"
            if command.choices:
                words = " ".join(command.choices)
                yield f"{start} -n '__fish_seen_subcommand_from {command.name}' -a '{words}'"


def _fish_option(option: Option) -> str:
    parts = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    ]
    if option.choices:
        parts.append(f"-x -a '{' '.join(option.choices)}'")
    elif option.value:
        parts.append("-r")
    return " ".join(parts)


def _names(commands: list[Described]) -> str:
    return " ".join(command.name for command in commands)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
