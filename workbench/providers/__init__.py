"""What comes from outside: the network, and knowledge that others keep (design, sections 2 and 7).

No other package reaches the network. Today there are prices of model calls, of the table that the price library brings
along; they need no network.
"""
