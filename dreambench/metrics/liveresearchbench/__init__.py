"""LiveResearchBench: presentation and coverage by checklist, faults by ladder, depth by comparison."""
