"""Local models behind two protocols: embedders give vectors, rerankers give logits.

Nothing here asks a network: the environment that says so is set before any library that could.
"""
