"""``calipers probe``: test which changes to texts an embedder detects."""

from calipers.command import Command

COMMAND = Command(
    name="probe",
    panel="Further analyses",
    place=5,
    summary="Test which changes to texts an embedder detects.",
    cli="cli:probe",
    options="options:ProbeOptions",
    run="run:probe",
    public="probe",
    result="result:Probe",
    kind="probe",
    document="document:document",
)
