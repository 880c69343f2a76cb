"""Query forms: CONSTRUCT's templates, ASK; and unions."""
