"""What studies are made of: comparisons, dose response, tables, figures and findings of finished runs."""
