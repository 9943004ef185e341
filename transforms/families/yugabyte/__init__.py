"""What YugabyteDB's two forms of change capture share: the CDC SDK (``yugabyte``) and ``yugabyte_xcluster``.

Both are answers of the same service: GetChanges responses, protobuf messages that a client wrote down as JSON. Put here
what such a message is made of (``messages``), the values, times and identifiers in it, which tablet it is of, and how
far it has come in it (``checkpoints``). Not here: what a record of either form does (``formats``).

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto and src/yb/common/value.proto.
"""
