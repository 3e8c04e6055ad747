"""Verification of a home: one module a kind of check, `run` for all of them, `problem` for what they report.

A check changes nothing and takes no lock; each gives problems with a remedy, and, where nothing is lost by it, with a
function that repairs. Design 4, "Care".
"""
