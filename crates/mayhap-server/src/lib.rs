//! A Redis-compatible server of filters.
