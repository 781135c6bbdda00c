"""From a suite's configuration to the judges of one case."""

from __future__ import annotations

from regress_core.judge.axes import AxesJudge, axes_prompt_version
from regress_core.judge.config import JudgeConfig, RubricDimension
from regress_core.judge.instructions import regression_prompt_version
from regress_core.judge.question import ModelJudge
from regress_core.judge.regression import RegressionJudge
from regress_core.judge.rubric import RubricJudge


def model_judges(
    config: JudgeConfig, rubric: tuple[RubricDimension, ...], instructions: str | None
) -> list[ModelJudge]:
    """Give the judges that ask a model about a case; without a rubric there is no rubric judge.

    Args:
        config: `judge` of suite.yaml.
        rubric: The rubric of the case.
        instructions: The suite's own instructions of the regression judge; None for ours.
    """
    judges: list[ModelJudge] = []
    model, settings = config.model, config.call_settings
    if config.regression is not None:
        judge = RegressionJudge(
            model=model,
            settings=settings,
            input_mode=config.regression.input_mode,
            system_prompt=instructions,
            prompt_version=regression_prompt_version(instructions, config.regression.prompt_version),
        )
        judges.append(judge)
    if rubric:
        judges.append(RubricJudge(model, settings, rubric))
    if config.axes is not None:
        axes = config.axes.axes
        judges.append(AxesJudge(model, settings, axes, axes_prompt_version(axes)))
    return judges
