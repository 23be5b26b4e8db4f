"""bigbfs.gpu"""
