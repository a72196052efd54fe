"""Steps skipped by a model that is learned while a simulation runs [KJ09]."""
