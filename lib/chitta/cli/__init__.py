"""The front door for hands: `chitta COMMAND`. Nothing on the prompt path imports this room."""
