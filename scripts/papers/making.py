"""Measuring, judging and drawing the figures of a paper, and writing its page."""

import figures
from papers.drawing import draw
from papers.pages import Outcome, page
from papers.running import DEVICE_COMMAND, NotMade, NotMeasured, Unsupported, say
from papers.verdicts import NOT_MADE, NOT_MEASURED

NOTES = 12  # lines about missing results of a figure


def gather(runner, commands):
    """(records by stem, notes about commands that failed); at least one record if there are any."""
    records, failures = {}, []
    for command in commands:
        try:
            records[command.stem] = runner.record(command)
        except NotMade as failure:
            failures.append(str(failure))
    if commands and not records:
        raise NotMade(failures[0])
    return records, failures


def commands_of(paper, figures_of_paper, device, quick):
    """The commands that measure these figures, each once."""
    plan = paper.plan_for(device, quick)
    return list(dict.fromkeys([DEVICE_COMMAND] + [
        command for figure in figures_of_paper for command in figure.commands(plan, device)]))


def short_list(notes):
    """The notes, or the first of them and how many more there are."""
    if len(notes) <= NOTES:
        return notes
    return notes[:NOTES - 1] + [f"{len(notes) - NOTES + 1} more."]


def make(paper, figure, runner, plan, device):
    """Measure, judge and draw one figure."""
    base = runner.folder / f"{figure.key}-{figure.name}"
    for ending in figures.METADATA:
        base.with_name(f"{base.name}.{ending}").unlink(missing_ok=True)
    records = {}
    try:
        records, failures = gather(runner, figure.commands(plan, device))
        finding = figure.make(list(records.values()), device)
        if finding.panels:
            subtitle = figure.computed or f"{device['name']}, {finding.precision} precision"
            figures.save(draw(figure.drawing, subtitle, finding.panels), base)
    except Unsupported as reason:
        return Outcome(figure, NOT_MEASURED, str(reason), NOT_MEASURED, records=records)
    except (NotMade, KeyError) as reason:
        words = f"no field {reason}." if isinstance(reason, KeyError) else str(reason)
        return Outcome(figure, NOT_MADE, words, NOT_MEASURED, records=records)
    missing = paper.left_out(records.values(), figure.concerned)
    return Outcome(figure, finding.verdict, finding.measured, finding.short, finding, records,
                   short_list(failures + missing))


def reproduce(paper, runner, selected, quick):
    """Make the selected figures of a paper, and the others whose results are there; returns the
    outcomes."""
    record = runner.record(DEVICE_COMMAND)
    device = record["devices"][0]
    runner.device_name = device["name"]
    plan = paper.plan_for(device, quick)
    runner.wanted |= {command.stem for command in commands_of(paper, selected, device, quick)}
    say(f"{device['name']}: {len(selected)} figures and tables into {runner.folder}")
    outcomes = []
    for figure in paper.figures:
        if figure in selected:
            say(f"[{selected.index(figure) + 1}/{len(selected)}] {figure.title}")
        elif not figure.commands(plan, device):
            continue
        try:
            outcome = make(paper, figure, runner, plan, device)
        except NotMeasured:
            continue
        if figure in selected:
            say(f"    {outcome.verdict}: {outcome.measured}")
        if figure in selected or outcome.verdict != NOT_MADE:
            outcomes.append(outcome)
    (runner.folder / "README.md").write_text(page(paper, record, outcomes), encoding="utf-8")
    return outcomes
