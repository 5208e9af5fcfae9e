"""The commands and their help texts; each does its work through ``commands.py``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ..errors import DynamisError
from . import commands
from .report import print_error
from .values import UsageError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Data-parallel kernels in Python: native speed, the same bits everywhere.",
    epilog="Exit codes: 0 done; 1 an error in your kernel, data or file; 2 a wrong command line.",
)

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A Python file with kernels.",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
KernelName = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        "-k",
        metavar="NAME",
        help="Which kernel of the file, by its name or id; the last one without.",
        show_default=False,
    ),
]
Width = Annotated[
    int | None,
    typer.Option(
        "--width",
        metavar="N",
        help="Elements that run side by side, a power of two. Never changes a result.",
        show_default=False,
    ),
]

Inputs = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="INPUT",
        help="One file per input of the kernel: a picture, or an array as .npy.",
        show_default=False,
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="A parameter of the kernel: 3, 0.5, true, or 1,2,3 for a vector. Repeatable.",
        show_default=False,
    ),
]
ShapeText = Annotated[
    str | None,
    typer.Option(
        "--shape",
        metavar="H,W",
        help="The size of the output, where no input gives it: height,width "
        "(n for rows, depth,height,width for a volume).",
        show_default=False,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        "-t",
        metavar="N",
        help="How many threads; one per available CPU without. Never changes a result.",
        show_default=False,
    ),
]


@app.command(epilog="Example: dynamis demo -o mandelbrot.png")
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The picture to write.")
    ] = Path("dynamis-demo.png"),
) -> None:
    """Make a picture in seconds, and say how long compiling and running took."""
    with _reported():
        commands.demo(output)


@app.command(
    epilog="Examples: dynamis run blur.py photo.png -o out.png --param radius=3 · "
    "dynamis run mandelbrot.py -o out.png --shape 1080,1920"
)
def run(
    file: File,
    inputs: Inputs = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where an output goes: .png .jpg .webp .bmp .tif or .npy. "
            "Once per output, in order.",
            show_default=False,
        ),
    ] = None,
    param: Params = None,
    kernel: KernelName = None,
    shape: ShapeText = None,
    threads: Threads = None,
    backend: Annotated[
        str,
        typer.Option(
            "--backend",
            metavar="cpu|reference",
            help="Machine code, or the slow interpreter that defines what is right.",
        ),
    ] = "cpu",
    width: Width = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Say where the time went, and what the cache did."),
    ] = False,
) -> None:
    """Run a kernel of FILE on pictures or arrays, and write what it makes."""
    with _reported():
        commands.run(
            commands.Run(
                file=file,
                inputs=inputs or [],
                outputs=output or [],
                params=param or [],
                kernel=kernel,
                shape=shape,
                threads=threads,
                backend=backend,
                width=width,
                verbose=verbose,
            )
        )


@app.command(
    epilog="Examples: dynamis bench blur.py photo.png --param radius=3 · "
    "dynamis bench mandelbrot.py --shape 1080,1920 --threads 1"
)
def bench(
    file: File,
    inputs: Inputs = None,
    param: Params = None,
    kernel: KernelName = None,
    shape: ShapeText = None,
    threads: Threads = None,
    width: Width = None,
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", help="About how long to go on calling."),
    ] = 1.0,
) -> None:
    """Time a kernel of FILE on your data, and hold it against the reference.

    Prints the first call and its compiling, later calls, rates, and whether answers agree."""
    with _reported():
        from .bench import Bench
        from .bench import bench as timed

        timed(
            Bench(
                file=file,
                inputs=inputs or [],
                params=param or [],
                kernel=kernel,
                shape=shape,
                threads=threads,
                width=width,
                seconds=seconds,
            )
        )


@app.command(epilog="Example: dynamis check blur.py")
def check(file: File, kernel: KernelName = None) -> None:
    """Validate the kernels of FILE; print their manifests, capabilities and worst work.

    Exits with 1 if any is wrong."""
    with _reported():
        commands.check(file, kernel)


@app.command(epilog="Example: dynamis show blur.py --stage asm")
def show(
    file: File,
    stage: Annotated[
        str,
        typer.Option(
            "--stage",
            "-s",
            metavar="kernel|uop|program|llvm|asm",
            help="Kernel IR, kernel AST, linear program, LLVM IR, or machine code.",
        ),
    ] = "kernel",
    kernel: KernelName = None,
    width: Width = None,
) -> None:
    """Print one stage of a kernel's way from Python to machine code."""
    with _reported():
        commands.show(file, stage, kernel, width)


@app.command(epilog="Example: dynamis explain blur.py")
def explain(file: File, kernel: KernelName = None, width: Width = None) -> None:
    """Say how a kernel of FILE runs, and why not faster.

    Elements at once, the class of each read, loops, arms that are skipped, checks that remain."""
    with _reported():
        commands.explain(file, kernel, width)


@app.command(epilog="Examples: dynamis cache · dynamis cache --clear")
def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove the compiled kernels; they are compiled anew.")
    ] = False,
) -> None:
    """Say where compiled kernels are kept between runs, how many, and how large they are.

    The folder is ~/.cache/dynamis, or what DYNAMIS_CACHE names; DYNAMIS_CACHE=off keeps nothing."""
    with _reported():
        commands.cache(clear)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"dynamis {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    pass


def invoke(arguments: list[str]) -> int:
    """Run the command that ``arguments`` spell; returns the exit code."""
    try:
        typer.main.get_command(app).main(arguments, prog_name="dynamis")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Errors of the body as one message and an exit code each."""
    try:
        yield
    except UsageError as error:
        raise typer.BadParameter(str(error), param_hint=f"'{error.option}'") from error
    except DynamisError as error:
        print_error(error)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
