"""An HSViT on several nodes, by Ray: each holds some shards, and the answer is made of those that arrive.

manifest    the shards and how to join them, as `export.shards` wrote it
node        one node: pixels to the class tokens of its groups
asking      all nodes side by side, until a deadline
joining     the tokens that arrived, to probabilities
pictures    an image file from outside, to pixels
service     requests over HTTP
engine      Ray's processes, from start to stop
bench       latency and throughput
"""
