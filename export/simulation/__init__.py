"""What a model in shards would do on devices and networks that are not here."""
