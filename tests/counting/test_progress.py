"""How much of a file has been read, as whoever waits sees it."""

import gzip
import zipfile
from fractions import Fraction
from threading import Event, Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dproo
from dproo.core.progress import watched
from dproo.counting.sources import file_scan

RECORDS = 300_000
COLUMNS = 20
"""So many that their pairs need more than one pass."""


def written(folder, kind):
    """Write the same records in several ways, and return what to open."""
    text = b"a,b\n" + b"".join(b"%d,x\n" % (i % 7) for i in range(RECORDS))
    path = folder / f"data.{kind}"
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(text, compresslevel=1))
    elif kind == "csv.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data.csv", text)
    elif kind == "parquet":
        pq.write_table(pa.table({"a": [str(i % 7) for i in range(RECORDS)]}), path)
    elif kind == "several":
        for i in range(3):
            (folder / f"part{i}.csv").write_bytes(text)
        return folder / "part*.csv"
    else:
        path.write_bytes(text)
    return path


def shares_during(action):
    """Return the shares that another thread sees while an action runs, and after it."""
    seen, is_over = [], Event()
    with watched() as share:

        def look():
            while not is_over.wait(0.002):
                seen.append(share())

        thread = Thread(target=look)
        thread.start()
        try:
            action()
        finally:
            is_over.set()
            thread.join()
        return [*seen, share()]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "several", "csv.zip", "parquet"])
def test_the_share_of_bytes_read_grows_to_the_end(tmp_path, kind):
    data = dproo.open(written(tmp_path, kind))
    seen = shares_during(lambda: data.value("a", [str(i) for i in range(7)], epsilon=1))
    known = [share for share in seen if share is not None]
    assert known == sorted(known)
    assert (seen[-1] is None) == (kind in {"csv.zip", "parquet"})
    assert seen[-1] in {None, Fraction(99, 100)}


@pytest.mark.one_of(3)
def test_every_pass_over_a_wide_file_is_part_of_the_share(tmp_path, monkeypatch):
    names = [f"c{i}" for i in range(COLUMNS)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(names) + "\n" + (",".join("01" * (COLUMNS // 2)) + "\n") * 1000)
    fields = [{"name": name, "type": "boolean", "outside": False} for name in names]
    count, after = file_scan._count, []
    with watched() as share:

        def counted(*args, **kwargs):
            found = count(*args, **kwargs)
            after.append(share())
            return found

        monkeypatch.setattr(file_scan, "_count", counted)
        dproo.open(path).row({"schema": {"fields": fields}}, epsilon=1)
    passes = len(after)
    assert passes > 1
    expected = [min((i + 1) / passes, 0.99) for i in range(passes)]
    assert [float(part) for part in after] == pytest.approx(expected, abs=0.01)
