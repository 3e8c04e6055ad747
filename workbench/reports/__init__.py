"""Documents made of frames: pure, text in and text out."""
