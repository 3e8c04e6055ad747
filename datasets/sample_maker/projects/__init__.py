"""The code that the sample sessions work on: three small projects, each with a past of a few commits."""
