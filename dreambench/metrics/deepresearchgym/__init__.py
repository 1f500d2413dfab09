"""DeepResearchGym: key points recalled and contradicted, six ratings, citation precision and recall."""
