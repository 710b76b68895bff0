"""Notes that leave this machine and come back: export, and one store on several machines."""
