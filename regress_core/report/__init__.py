"""What people look at: plots."""
