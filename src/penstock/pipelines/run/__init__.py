"""Running pipelines: settings, the runner, the group on the broker, progress and status."""
