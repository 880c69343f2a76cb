"""`millstream serve`: one engine behind HTTP; register, push, ask and subscribe, durable and bounded."""
