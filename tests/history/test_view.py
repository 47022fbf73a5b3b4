"""The temporal view, one case for each sentence of the semantics."""

from __future__ import annotations

from tests.history.telling import current, filler, hole, remove, seen, told

ROOT = filler(0, 1, "1", f"<accounts>{hole(1, 2)}</accounts>")
ACCOUNT = filler(1, 2, "2", f"<account>{hole(2, 4)}{hole(3, 5)}</account>")
LIMIT = filler(2, 4, "2", "<limit>10</limit>")


def test_a_hole_stands_for_all_its_versions_each_until_the_next() -> None:
    later = filler(2, 4, "5", "<limit>20</limit>")
    assert seen(told([ROOT, ACCOUNT, LIMIT, later])) == (
        '<accounts><account vtFrom="2" vtTo="now"><limit vtFrom="2" vtTo="5">10</limit>'
        '<limit vtFrom="5" vtTo="now">20</limit></account></accounts>'
    )


def test_a_late_version_takes_its_place_in_the_middle() -> None:
    parts = [filler(2, 4, day, f"<limit>{day}</limit>") for day in ("9", "3", "6")]
    assert seen(told([ROOT, ACCOUNT, *parts])).count('vtTo="6"') == 1
    assert 'vtFrom="6" vtTo="9">6<' in seen(told([ROOT, ACCOUNT, *parts]))


def test_children_that_come_before_their_parents_are_found() -> None:
    assert seen(told([LIMIT, ACCOUNT, ROOT])) == seen(told([ROOT, ACCOUNT, LIMIT]))


def test_an_event_lives_for_one_instant_and_does_not_clip_what_follows() -> None:
    charge = filler(3, 5, "4", f"<charge>{hole(4, 6)}</charge>")
    status = [filler(4, 6, "4", "<status>a</status>"), filler(4, 6, "9", "<status>b</status>")]
    assert (
        '<charge vtFrom="4" vtTo="4"><status vtFrom="4" vtTo="9">a</status>'
        '<status vtFrom="9" vtTo="now">b</status></charge>'
    ) in seen(told([ROOT, ACCOUNT, charge, *status]))


def test_a_child_stands_under_each_version_of_its_parent_clipped_to_it() -> None:
    again = filler(1, 2, "6", f'<account v="2">{hole(2, 4)}{hole(3, 5)}</account>')
    later = filler(2, 4, "8", "<limit>20</limit>")
    assert seen(told([ROOT, ACCOUNT, again, LIMIT, later])) == (
        '<accounts><account vtFrom="2" vtTo="6"><limit vtFrom="2" vtTo="6">10</limit></account>'
        '<account v="2" vtFrom="6" vtTo="now"><limit vtFrom="6" vtTo="8">10</limit>'
        '<limit vtFrom="8" vtTo="now">20</limit></account></accounts>'
    )


def test_an_event_stands_once_under_the_version_alive_at_its_instant() -> None:
    again = filler(1, 2, "6", f'<account v="2">{hole(3, 5)}</account>')
    first, second = '<account vtFrom="2" vtTo="6">', '<account v="2" vtFrom="6" vtTo="now">'
    for day, where in (("5", first), ("6", second)):
        xml = seen(told([ROOT, ACCOUNT, again, filler(3, 5, day, "<charge/>")]))
        assert xml.count("<charge") == 1
        before, _, _ = xml.partition("<charge")
        assert before.endswith(where)


def test_what_lies_outside_every_version_of_its_parent_is_not_seen() -> None:
    early = filler(3, 5, "1", "<charge/>")
    assert "charge" not in seen(told([ROOT, ACCOUNT, early]))


def test_remove_closes_the_chain_and_a_later_filler_opens_it_again() -> None:
    parts = [LIMIT, remove(2, "4"), filler(2, 4, "7", "<limit>20</limit>")]
    assert ('<limit vtFrom="2" vtTo="4">10</limit><limit vtFrom="7" vtTo="now">20</limit>') in seen(
        told([ROOT, ACCOUNT, *parts])
    )


def test_a_remove_counts_wherever_it_arrives() -> None:
    parts = [remove(2, "4"), LIMIT]
    assert seen(told([ROOT, ACCOUNT, *parts])) == seen(told([ROOT, ACCOUNT, *parts[::-1]]))


def test_a_hole_that_a_version_no_longer_carries_ends_what_it_held() -> None:
    without = filler(1, 2, "6", "<account/>")
    assert seen(told([ROOT, ACCOUNT, LIMIT, without])) == (
        '<accounts><account vtFrom="2" vtTo="6"><limit vtFrom="2" vtTo="6">10</limit></account>'
        '<account vtFrom="6" vtTo="now"/></accounts>'
    )


def test_at_one_instant_the_later_arrival_counts() -> None:
    other = filler(2, 4, "2", "<limit>99</limit>")
    history = told([ROOT, ACCOUNT, LIMIT, other])
    assert '<limit vtFrom="2" vtTo="now">99</limit>' in seen(history)
    assert seen(history).count("<limit") == 1
    assert ">10</limit>" in seen(told([ROOT, ACCOUNT, other, LIMIT]))


def test_replace_overwrites_and_is_a_version_of_its_own() -> None:
    for day, expected in (("2", 'vtFrom="2" vtTo="now">9'), ("3", 'vtFrom="3" vtTo="now">9')):
        changed = filler(2, 4, day, "<limit>9</limit>", "replace")
        assert expected in seen(told([ROOT, ACCOUNT, LIMIT, changed]))


def test_what_is_sent_again_changes_nothing_and_is_counted() -> None:
    history = told([ROOT, ACCOUNT, LIMIT, LIMIT, ROOT])
    assert history.repeated == 2
    assert len(history) == 3
    assert seen(history) == seen(told([ROOT, ACCOUNT, LIMIT]))


def test_a_repeat_of_what_was_corrected_since_corrects_nothing() -> None:
    other = filler(2, 4, "2", "<limit>99</limit>")
    repeat = filler(2, 4, "2", "<limit>10</limit>", "repeat")
    history = told([ROOT, ACCOUNT, LIMIT, other, repeat])
    assert ">99</limit>" in seen(history)
    assert history.repeated == 1


def test_a_snapshot_root_sent_again_is_one_element_with_its_latest_content() -> None:
    again = filler(0, 1, "5", f'<accounts v="2">{hole(1, 2)}</accounts>')
    history = told([again, ROOT, ACCOUNT])
    assert seen(history) == '<accounts v="2"><account vtFrom="2" vtTo="now"/></accounts>'
    assert seen(history, "4") == '<accounts><account vtFrom="2" vtTo="now"/></accounts>'


def test_a_snapshot_that_travels_passes_on_what_clips_it() -> None:
    account = filler(1, 2, "2", f"<account>{hole(9, 8)}</account>")
    again = filler(1, 2, "6", f"<account>{hole(9, 8)}</account>")
    address = filler(9, 8, "2", f"<address>{hole(2, 4)}</address>")
    assert seen(told([ROOT, account, again, address, LIMIT])) == (
        '<accounts><account vtFrom="2" vtTo="6"><address><limit vtFrom="2" vtTo="6">10</limit>'
        '</address></account><account vtFrom="6" vtTo="now"><address>'
        '<limit vtFrom="6" vtTo="now">10</limit></address></account></accounts>'
    )


def test_as_of_an_instant_nothing_later_is_known() -> None:
    later = filler(2, 4, "5", "<limit>20</limit>")
    history = told([ROOT, ACCOUNT, LIMIT, later])
    assert seen(history, "4") == seen(told([ROOT, ACCOUNT, LIMIT]))
    assert seen(history, "5") == seen(history)


def test_an_attribute_that_changes_is_a_new_version() -> None:
    parts = [filler(2, 4, "2", '<limit of="a"/>'), filler(2, 4, "4", '<limit of="b"/>')]
    assert ('<limit of="a" vtFrom="2" vtTo="4"/><limit of="b" vtFrom="4" vtTo="now"/>') in seen(
        told([ROOT, ACCOUNT, *parts])
    )


def test_fragments_without_valid_time_go_by_the_order_of_arrival() -> None:
    parts = [filler(0, 1, None, f"<accounts>{hole(1, 2)}</accounts>")]
    parts += [filler(1, 2, None, f"<account>{n}</account>") for n in (1, 2)]
    assert seen(told(parts)) == (
        '<accounts><account vtFrom="1970-01-01T00:00:02" vtTo="1970-01-01T00:00:03">1</account>'
        '<account vtFrom="1970-01-01T00:00:03" vtTo="now">2</account></accounts>'
    )


def test_valid_times_with_a_zone_are_shown_in_utc_with_z() -> None:
    part = filler(2, 4, "2003-01-03T02:00:00+02:00", "<limit/>")
    assert '<limit vtFrom="3Z" vtTo="now"/>' in seen(told([ROOT, ACCOUNT, part]))


def test_texts_around_an_empty_hole_are_one() -> None:
    account = filler(1, 2, "2", f"<account>a&amp;{hole(2, 4)}{hole(7, 4)}b{hole(8, 4)}c</account>")
    history = told([ROOT, account])
    assert '<account vtFrom="2" vtTo="now">a&amp;bc</account>' in seen(history)
    assert '>a&amp;<limit vtFrom="2" vtTo="now">10</limit>bc<' in seen(told([ROOT, account, LIMIT]))


def test_own_attributes_called_like_the_bounds_give_way() -> None:
    part = filler(2, 4, "2", '<limit vtFrom="x" a="1" vtTo="y"/>')
    assert '<limit a="1" vtFrom="2" vtTo="now"/>' in seen(told([ROOT, ACCOUNT, part]))


def test_reconstruction_is_the_latest_content_without_lifespans() -> None:
    parts = [LIMIT, filler(2, 4, "5", "<limit>20</limit>"), filler(3, 5, "3", "<charge/>")]
    again = filler(1, 2, "6", f"<account>{hole(2, 4)}{hole(3, 5)}</account>")
    assert current(told([ROOT, ACCOUNT, *parts, again])) == (
        "<accounts><account><limit>20</limit><charge/></account></accounts>"
    )


def test_a_tag_may_contain_itself() -> None:
    structure = (
        '<stream:structure><tag type="snapshot" id="1" name="parts"><tag type="temporal" id="2" '
        'name="part"><tag ref="2"/></tag></tag></stream:structure>'
    )
    parts = [filler(0, 1, "1", f"<parts>{hole(1, 2)}</parts>")]
    parts += [filler(n, 2, "1", f'<part n="{n}">{hole(n + 1, 2)}</part>') for n in range(1, 40)]
    assert seen(told(parts, structure)).count("<part ") == 39


def test_namespaces_around_fragments_and_inside_them_are_kept() -> None:
    structure = (
        '<fragments xmlns:a="urn:a"><structure><tag type="snapshot" id="1" name="r"><tag '
        'type="temporal" id="2" name="a:x"/><tag type="temporal" id="3" name="y"/></tag>'
        "</structure>"
    )
    parts = [
        filler(0, 1, "1", f'<r xmlns:b="urn:b">{hole(1, 2)}{hole(2, 3)}</r>'),
        filler(1, 2, "1", '<a:x b="1"/>'),
        filler(2, 3, "1", "<y/>"),
        "</fragments>",
    ]
    xml = seen(told(parts, structure))
    assert xml == (
        '<r xmlns:a="urn:a" xmlns:b="urn:b"><a:x b="1" vtFrom="1" vtTo="now"/>'
        '<y vtFrom="1" vtTo="now"/></r>'
    )
