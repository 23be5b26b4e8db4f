"""bigbfs.generate"""
