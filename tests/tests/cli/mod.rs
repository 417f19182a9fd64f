//! The plugin, as a person at a terminal sees it.
