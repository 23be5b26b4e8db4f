"""bigbfs.report"""
