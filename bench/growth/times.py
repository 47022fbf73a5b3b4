"""Questions about time: versions, projections that move with now, absence, interval joins."""

from bench.growth.entry import Entry, Quiet
from bench.growth.machines import ALARMS, BEATS, FIRST_LOADS, HALL, JOBS, LOADS, TAKEN_BACK, WORKS
from bench.growth.streams import Unit

M = 'stream("m")/hall/machine'

OF_MACHINES: tuple[tuple[str, str, Unit, Unit, str], ...] = (
    ("version current", "the load of each machine now", LOADS, LOADS,
     f"""for $m in {M} return <now>{{ $m/@id, $m/load?[now]/text() }}</now>"""),
    ("version previous", "the load of each machine before the last", LOADS, FIRST_LOADS,
     f"""for $m in {M} return <was>{{ $m/@id, $m/load#[last - 1]/text() }}</was>"""),
    ("version jump", "machines whose load rose by 30", LOADS, LOADS,
     f"""for $m in {M} where $m/load#[last] - $m/load#[last - 1] > 30
return <jump>{{ $m/@id }}</jump>"""),
    ("version first", "the first load of each machine", LOADS, FIRST_LOADS,
     f"""for $m in {M} return <first>{{ $m/@id, $m/load#[1]/text() }}</first>"""),
    ("version count", "how often each machine has reported", LOADS, LOADS,
     f"""for $m in {M} where count($m/load) > 2
return <often>{{ $m/@id, count($m/load) }}</often>"""),
    ("version ever", "machines that were ever above 90", LOADS, LOADS,
     f"""for $m in {M} where $m/load > 90 return <high>{{ $m/@id }}</high>"""),
    ("version average", "the mean load of all machines now", LOADS, LOADS,
     f"""avg({M}/load?[now]/xs:integer(.))"""),
    ("version top", "the five highest loads now", LOADS, LOADS,
     f"""(for $m in {M} let $l := $m/load?[now] order by xs:integer($l) descending, $m/@id
return <top>{{ $m/@id, $l/text() }}</top>)[position() <= 5]"""),
    ("version rooms", "the mean load of each room now", LOADS, LOADS,
     f"""for $m in {M} group by $r := $m/@room order by $r
return <room name="{{ $r }}">{{ avg($m/load?[now]/xs:integer(.)) }}</room>"""),
    ("projection fixed", "loads between two instants", LOADS, LOADS,
     f"""for $m in {M} where $m/load?[2026-01-01T11:20:00,2026-01-01T11:40:00] > 90
return <then>{{ $m/@id }}</then>"""),
    ("projection hour count", "heartbeats of the last hour", BEATS, BEATS,
     f"""count({M}/beat?[now - PT1H, now][@number > 5])"""),
    ("projection hour sum", "what each machine sent in the last hour", BEATS, BEATS,
     f"""for $m in {M} let $sum := sum($m/beat?[now - PT1H, now]/@number)
where $sum > 6 return <sent>{{ $m/@id, $sum }}</sent>"""),
    ("projection minutes", "heartbeats of the last five minutes", BEATS, BEATS,
     f"""for $b in {M}/beat?[now - PT5M, now]
return <beat>{{ $b/@number, vtFrom($b) }}</beat>"""),
    ("absence", "machines without a heartbeat for five minutes", BEATS, TAKEN_BACK,
     f"""for $m in {M} where empty($m/beat?[now - PT5M, now])
return <silent>{{ $m/@id }}</silent>"""),
    ("absence count", "how many machines are silent", BEATS, TAKEN_BACK,
     f"""count({M}[empty(beat?[now - PT5M, now])])"""),
    ("comparison with now", "machines last heard of over five minutes ago", BEATS, BEATS,
     f"""for $m in {M} where vtFrom($m/beat#[last]) < now - PT5M
return <late>{{ $m/@id }}</late>"""),
)  # fmt: skip

OF_WORKS: tuple[tuple[str, str, Unit, Unit, str], ...] = (
    ("interval during", "alarms within jobs", ALARMS, ALARMS,
     """for $j in stream("w")//job, $a in stream("w")//alarm where $a during $j
return <within job="{ $j/@name }">{ $a/@name, string($a/@grade) }</within>"""),
    ("interval overlaps", "jobs that overlap the next", JOBS, JOBS,
     """for $j in stream("w")//job, $k in stream("w")//job where $j overlaps $k
return <pair>{ $j/@name, string($k/@name) }</pair>"""),
    ("interval coincide", "alarms while a job ran, by projection", ALARMS, ALARMS,
     """for $j in stream("w")//job
return <job>{ $j/@name, stream("w")//alarm?[vtFrom($j), vtTo($j)]/@grade/string() }</job>"""),
    ("interval count", "alarms of each line, joined by time", ALARMS, ALARMS,
     """for $j in stream("w")//job, $a in stream("w")//alarm where $a during $j and $a/@grade > 1
group by $l := $j/@line order by $l return <line name="{ $l }">{ count($a) }</line>"""),
    ("interval current", "jobs that run now", JOBS, JOBS,
     """for $j in stream("w")//job?[now] return <runs>{ $j/@name }</runs>"""),
)  # fmt: skip

# What a correction does not change: the number of versions, when a machine was heard of, the past;
# and what a new fragment does not: the first version.
QUIET: dict[str, Quiet] = {
    "version count": "correction",
    "version first": "new",
    "projection fixed": "new",
    "comparison with now": "correction",
    "interval current": "correction",
}

TIMES = (
    *(
        Entry(name, what, text, HALL, new, fix, translated=True, quiet=QUIET.get(name, ""))
        for name, what, new, fix, text in OF_MACHINES
    ),
    *(
        Entry(name, what, text, WORKS, new, fix, translated=True, quiet=QUIET.get(name, ""))
        for name, what, new, fix, text in OF_WORKS
    ),
)
