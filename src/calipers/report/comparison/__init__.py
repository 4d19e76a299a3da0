"""What is shown of a comparison: its verdict, its tables, and the topics that cause a gap."""
