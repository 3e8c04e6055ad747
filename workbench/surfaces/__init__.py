"""Where people and programs come in: parse, call, print. No decision is taken here."""
