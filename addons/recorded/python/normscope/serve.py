"""`python -m normscope.serve`: a server of the Model Context Protocol over stdio, so that an agent asks the program and
is told no more than the seeds allow. It needs the package mcp (`pip install mcp`); nothing it does uses the network."""
from __future__ import annotations

import argparse
import functools
import inspect
import os
import pathlib
import sys
from typing import Any, Awaitable, Callable

from . import _lab

TOOLS = ("settings", "compare", "instant", "sweep", "preregister", "study", "series", "plot", "coverage", "asked")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m normscope.serve", description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path.cwd(),
                        help="where files that settings name must lie")
    folder = parser.parse_args().folder
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver import Context
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.server.mcpserver.tools import Tool
    except ImportError:
        print("normscope: the server needs the package mcp, 2 or later: pip install 'mcp>=2'", file=sys.stderr)
        return 1
    from . import _referee  # needs what mcp brings
    os.chdir(folder)  # where the program looks for relative paths
    referee = _referee.Referee(pathlib.Path.cwd())

    def refusing(tool: "Callable[..., Awaitable[Any]]") -> "Callable[..., Awaitable[Any]]":
        @functools.wraps(tool)
        async def answer(client: Context, **named: Any) -> Any:
            _referee.TOLD.set(client.report_progress)
            try:
                # `as`, a word of Python's own, comes by that name, as clients know it
                return await tool(**{"form" if name == "as" else name: value for name, value in named.items()})
            except _lab.Error as error:
                raise ToolError(str(error)) from None  # only the words of this one reach the client

        # The server gives the request to the parameter of that type, of which a client sees nothing.
        said = inspect.signature(tool, eval_str=True)
        client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
        answer.__signature__ = said.replace(parameters=[*said.parameters.values(), client])  # type: ignore[attr-defined]
        answer.__annotations__ = {**answer.__annotations__, "client": Context}
        return answer

    def tool_of(name: str) -> Tool:
        method = getattr(referee, name)
        tool = Tool.from_function(refusing(method), description=" ".join(method.__doc__.split()))
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"  # a misspelt `seeds` is refused, and does not train the default's
        model.model_rebuild(force=True)
        tool.parameters["additionalProperties"] = False
        return tool

    MCPServer("normscope", tools=[tool_of(name) for name in TOOLS]).run("stdio")
    return 0


if __name__ == "__main__":
    sys.exit(main())
