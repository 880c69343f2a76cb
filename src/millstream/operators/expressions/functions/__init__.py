"""The functions of section 17."""
