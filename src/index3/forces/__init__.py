"""Force elements: one file per kind, with its word, its law and the law's derivatives."""
