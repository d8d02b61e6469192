"""An HSViT on several nodes, by Ray: each node runs some shards, and the class tokens that arrive are joined.

engine      the whole service, from start to stop
manifest    reads the files that `export.shards` wrote
node        one node: from the pixels of an image to the class tokens of its groups
node_group  calls all nodes at once, until a deadline
head        from the class tokens that arrived to logits and probabilities
uploads     decodes an image file that a client sent
service     HTTP requests and responses
server      the service on a port, by uvicorn
limits      what a client may cost
connections their number, and how slowly a client may send and read
bodies      receives the bodies of requests in limited time and memory
access      who may ask
observing   counts and logs requests
metrics     the counters
request_log the log
cluster     starts and stops Ray's processes
bench       latency and throughput, measured by clients
subsets     accuracy with some of the groups
elastic_model  as many groups as a latency budget allows, on one device
"""
