"""The fragment table: what arrived on streams, kept in Parquet files by stream and tag."""

from xstreamcast.edges.table.log import Log, State

__all__ = ["Log", "State"]
