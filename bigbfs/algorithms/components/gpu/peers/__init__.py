"""Connected components over several GPUs of one machine: a forest on each, and what they tell one another of it."""
