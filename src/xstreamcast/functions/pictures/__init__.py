"""Pictures: numbers, dates and times formatted by a picture, and one form of dates parsed."""
