"""What sessions show in numbers: scorecards, the counters of a live session, and patterns of work.

Source: PRAANA specification B, 8, 9 and 13; "Workflow Pattern Tracking", "Telemetry scorecard".
"""
