"""``stagecut examples``: the packaged examples."""

import typer


def examples() -> None:
    """List the packaged examples; each name can stand wherever a problem file can."""
    from stagecut.examples import example_names, load_example_profile

    for name in example_names():
        profile = load_example_profile(name)
        typer.echo(
            f"{name:<14} {len(profile.layers):>3} layers, "
            f"{profile.cluster.num_devices:>3} devices, "
            f"{profile.num_microbatches:>4} micro-batches: {profile.name}"
        )
