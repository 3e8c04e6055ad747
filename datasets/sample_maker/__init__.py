"""Makes the sample sessions: scripted people and agents, real tools, fixed clocks and ids.

`workshop` is the throw-away repository in which tools really run, `claude_tools` and `log_tools` are what an agent may
call, `claude_code` and `event_log` the two recorders, `truth` is what they counted while writing, `projects` the code
that is worked on, `scenarios` who says and does what.
"""
