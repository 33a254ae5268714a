//! classic
