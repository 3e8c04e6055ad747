"""What an agent's prompt is made of, and why: adaptive context as pure functions over records.

Source: PRAANA, "Adaptive context" (engine mode and classic mode).
"""
