"""Repairs of a vault: proposals with their confidence, the edits they mean, and applying them after a backup.

Source: PAI specification, 19; the seed's "repairs broken wikilinks and orphans".
"""
