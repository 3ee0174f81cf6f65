//! All that the program calls games.
