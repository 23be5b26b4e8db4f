"""BFS over several GPUs of one machine: the level loop stays on the devices."""
