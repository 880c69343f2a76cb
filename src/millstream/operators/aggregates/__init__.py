"""The aggregates of section 18.5.1: what each keeps of a group, so that rows can be taken back."""
