"""What the commands do once their options are read; a command imports its action when it runs."""
