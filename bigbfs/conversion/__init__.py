"""bigbfs.conversion"""
