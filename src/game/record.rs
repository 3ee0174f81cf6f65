//! The record file.
