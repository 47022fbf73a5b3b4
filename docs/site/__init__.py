"""What builds the docs site: drawings, a recording, and the reference pages."""
