"""The `regress` command. Modules import what they run only when they run it: `--help` stays fast."""
