"""Configuration files: device profiles and bench suites, TOML read into frozen dataclasses."""

from bigbfs.config.profiles import (
    BESIDE,
    DEFAULT_PROFILE,
    DeviceProfile,
    GpuLinks,
    LineRate,
    RankRates,
    find_profile,
    profile_text,
    rates_text,
    read_profile,
)
from bigbfs.config.suites import BenchCase, BenchSuite, read_suite
from bigbfs.config.tables import from_table, read_toml

__all__ = [
    "BESIDE",
    "DEFAULT_PROFILE",
    "BenchCase",
    "BenchSuite",
    "DeviceProfile",
    "GpuLinks",
    "LineRate",
    "RankRates",
    "find_profile",
    "from_table",
    "profile_text",
    "rates_text",
    "read_profile",
    "read_suite",
    "read_toml",
]
