"""Groups of commands: a name that none of them has is refused with the one that is most like it."""

from __future__ import annotations

import click


class Group(click.Group):
    """A click group that knows its commands by ``list_commands``, and asks whether one of them was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of the command, the command, and the words behind it.

        Raises
        ------
        click.UsageError
            There is no such command; names the nearest one.
        """
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches  # which a right name needs not wait for

            near = get_close_matches(args[0].lower(), known, 1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}{meant}.", ctx)
        return super().resolve_command(ctx, args)
