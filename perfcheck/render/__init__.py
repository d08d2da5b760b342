"""Forms a report can take: one module a form, data in, text out."""
