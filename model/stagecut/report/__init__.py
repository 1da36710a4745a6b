"""What people look at: tables for terminals and pictures of plans."""
