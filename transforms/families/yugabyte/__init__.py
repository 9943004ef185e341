"""What YugabyteDB's two forms of change capture share, the CDC SDK (``yugabyte``) and ``yugabyte_xcluster``.

Both are answers of the same service: GetChanges responses, protobuf messages that a client wrote down as JSON.

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto and src/yb/common/value.proto.
"""
