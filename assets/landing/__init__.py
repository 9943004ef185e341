"""Where drops lie and how they are read: folders, object stores and Kafka's topics. It writes nothing."""
