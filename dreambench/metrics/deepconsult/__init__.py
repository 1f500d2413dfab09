"""DeepConsult: a candidate's report against a baseline's, in both orders and several trials."""
