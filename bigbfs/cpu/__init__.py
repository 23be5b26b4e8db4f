"""bigbfs.cpu"""
