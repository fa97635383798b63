"""What the scripts of campaigns have in common: options, and tables in Markdown."""
import argparse
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CURVES = ROOT / "bench" / "curves"


def folder_at(text):
    """Its path; it is made."""
    path = pathlib.Path(text)
    path.mkdir(parents=True, exist_ok=True)
    return path


def words(text):
    return text.split(",")


def options(doc):
    """A parser that asks where the runs go, and takes another program than that of build/."""
    parser = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=folder_at, required=True, help="where the runs go")
    parser.add_argument("--actorq", default=str(ROOT / "build" / "cli" / "actorq"))
    return parser


def row_of(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head_of(columns, left=1):
    """So many columns are of words; the others, of figures, are flush right."""
    return row_of(columns) + "\n" + "|---" * left + "|--:" * (len(columns) - left) + "|"
