"""Sections of the page of the strategies, from made-up rows."""

import bench_records as records
import strategy_sections as sections

from bigbfs.report.rows import Record
from bigbfs.report.summary import summarize
from bigbfs.report.table import cell


def lines_of(made):
    return summarize(made)


def places(*ways):
    made = Record()
    for number, (strategy, more) in enumerate(ways):
        made.add(records.row("as-caida2007", strategy, number, **more))
    return summarize(made)


def test_names_of_contenders_come_apart():
    assert sections.named("adaptive (mapped, varint, by degree)") == ("adaptive", ("mapped", "varint", "by degree"))
    assert sections.named("queue") == ("queue", ())


def test_a_level_takes_the_traversal_over_the_levels():
    made = records.record(graphs=("as-caida2007", "luxembourg_osm"), strategies=("auto", "queue"))
    text = sections.thin_levels(summarize(made))
    line = next(x for x in summarize(made) if (x.graph, x.contender) == ("luxembourg_osm", "queue"))
    assert "as-caida2007" not in text  # 15 levels
    assert f"| queue | {1e6 * line.traversal / 1034:.4g} | 1 | 1 |" in text


def test_redundancy_is_ids_taken_over_edges_and_the_worst_level_counts():
    made = records.record(graphs=("R-MAT 2 M / 128 M",), strategies=("two-phase", "two-phase-raw"))
    row = made.rows[1]
    levels = row.levels
    grown = list(levels.checked)
    grown[3] *= 4
    down = {"down": levels.checked}
    raw = records.row("R-MAT 2 M / 128 M", "two-phase-raw", 1, checked=2 * row.edges)
    raw = type(raw)(
        **{n: getattr(raw, n) for n in raw.__slots__}
        | {
            "levels": type(levels)(
                levels.direction, levels.frontier, tuple(grown), levels.enqueued, levels.seconds, **down
            )
        }
    )
    made.rows[1] = raw
    text = sections.redundant(made, summarize(made))
    assert "| R-MAT 2 M / 128 M | 2 | 1 | - | - | - | 4 | 1 |" in text


def test_places_have_a_column_for_each_and_levels_alone_another_table():
    ways = (
        ("queue", {}),
        ("queue", {"codec": "varint"}),
        ("scan", {"residency": "mapped", "codec": "varint", "order": "degree"}),
        ("queue", {"parents": False, "seconds": (1.0,)}),
    )
    text = sections.places(places(*ways))
    assert "| strategy | vram, plain | vram, compressed | mapped, compressed, by degree |" in text
    assert "| scan | - | - |" in text
    alone = sections.distances(places(*ways))
    assert "| as-caida2007 | queue | 1,000.0 |" in alone
    assert sections.places(places(ways[0])) == sections.distances(places(ways[0])) == ""


def test_sizes_are_in_the_order_of_their_rows():
    made = records.record(graphs=("luxembourg_osm", "as-caida2007"), strategies=("auto", "hybrid-merrill"))
    head, _, *rows = sections.sizes(made).splitlines()
    assert head.startswith("| graph | vertices | edges | depth | auto, ms |")
    assert [row.split(" | ")[0] for row in rows] == ["| luxembourg_osm", "| as-caida2007"]
    lines = [line for line in summarize(made) if line.graph == "luxembourg_osm" and line.backend == "gpu"]
    assert all(f" {cell(1e3 * line.traversal)} |" in rows[0] for line in lines)
    assert {line.contender for line in lines} == {"auto", "hybrid-merrill"}
