"""Sam's notes: what a vault of one person looks like after half a year, its mess included."""
