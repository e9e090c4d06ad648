"""Model files: JSON and TOML, read with checks and units, written without loss."""
