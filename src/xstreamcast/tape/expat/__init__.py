"""Documents that need expat: internal DTD subsets, other encodings, exact error messages."""
