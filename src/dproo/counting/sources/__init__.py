"""Where records come from: files, frames, databases, lists and ready counts."""
