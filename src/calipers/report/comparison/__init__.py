"""The presentation of a comparison: verdict, tables, and the topics that cause a gap."""
