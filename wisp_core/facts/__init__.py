"""Learns: the ledger of facts and who may change one. Pure; filled by the plan's step 5."""
