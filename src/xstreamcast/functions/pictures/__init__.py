"""Pictures: numbers, dates and times written as a picture says, and one form of dates read."""
