"""Who is right about what: small histories whose right answer is known, and what each applier makes of them."""
