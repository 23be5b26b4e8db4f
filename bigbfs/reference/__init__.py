"""bigbfs.reference"""
