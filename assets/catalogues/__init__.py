"""Gold registered where people look: in Hive's Metastore, Unity Catalog and AWS Glue."""
