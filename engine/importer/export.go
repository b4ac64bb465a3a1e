package importer

const unknown = "unknown"
