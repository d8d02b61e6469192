"""HSViTs in parts: shards for several devices, and files with a signature for each number of groups."""
