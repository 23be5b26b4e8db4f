"""Connected components over GPUs whose hosts carry what is told: those of several machines above all."""
