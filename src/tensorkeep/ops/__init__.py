"""Operations: what each computes, from arrays to arrays."""
