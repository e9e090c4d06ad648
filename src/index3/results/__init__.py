"""What a run leaves behind: arrays by time, named views of bodies and joints, files, plots, a page."""
