"""The tables of papers, trained again: what is in them, what runs, what came out."""
