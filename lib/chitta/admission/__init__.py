"""Admission: which of the recalled rows may enter the model's context, and the reasons. Pure."""
