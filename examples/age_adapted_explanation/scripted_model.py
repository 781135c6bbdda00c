"""What a model might say, written by hand, so that the example needs no key and always comes out the same."""

from __future__ import annotations

from dataclasses import dataclass

from regress_core.models import ModelError, ModelReply, ModelRequest, ModelToolCall
from regress_core.records.json_io import JsonObject, dumps_text


@dataclass(frozen=True, slots=True)
class Lesson:
    """One question of one learner.

    Attributes:
        case: The name of its case.
        question: What the learner asks.
        learner_id: Who asks.
        topic: What it is about.
        generic: The answer for everybody.
        adapted: The answer for the learner's age range.
    """

    case: str
    question: str
    learner_id: str
    topic: str
    generic: str
    adapted: str

    def arguments(self, tool: str) -> JsonObject:
        """Give the arguments with which a tool is called."""
        return {"topic": self.topic} if tool == "get_topic_facts" else {"learner_id": self.learner_id}


LESSONS = (
    Lesson(
        case="photosynthesis-age-10",
        question="What is photosynthesis?",
        learner_id="learner-104",
        topic="photosynthesis",
        generic=(
            "Photosynthesis is the process by which plants convert light energy into chemical energy. The "
            "pigment chlorophyll absorbs sunlight, whose energy drives the synthesis of sugar from carbon "
            "dioxide and water, while oxygen is released as a by-product."
        ),
        adapted=(
            "Photosynthesis is how plants make their own food. Their leaves take in water and carbon "
            "dioxide, a gas from the air. With the energy of sunlight they turn these into sugar. The green "
            "in the leaves catches the light for it. And they give off oxygen, the gas that you breathe."
        ),
    ),
    Lesson(
        case="gravity-age-8",
        question="What is gravity?",
        learner_id="learner-227",
        topic="gravity",
        generic=(
            "Gravity is the mutual attraction between all bodies that possess mass. The gravitational field "
            "of the Earth gives objects their weight and causes them to fall, whereas on the Moon, whose "
            "field is weaker, the same objects weigh approximately one sixth as much."
        ),
        adapted=(
            "Gravity is a pull. The Earth pulls you, your ball and even the sea. That is why a ball always "
            "falls back down. The Moon has less mass, so its gravitational pull is weaker. You would weigh "
            "only a sixth as much there!"
        ),
    ),
)


def reply(request: ModelRequest) -> ModelReply:
    """Call every tool that is offered and was not called yet, all of them at once; then answer.

    Raises:
        ModelError: If the script has no answer to the question.
    """
    lesson = _lesson_of(request)
    called = {item["name"] for item in request.messages if item["type"] == "tool_call_item"}
    calls = tuple(
        ModelToolCall(f"call_{tool.name}", tool.name, dumps_text(lesson.arguments(tool.name)))
        for tool in request.tools
        if tool.name not in called
    )
    if calls:
        return ModelReply(tool_calls=calls)
    knows_age = "get_age_range" in called
    return ModelReply(lesson.adapted if knows_age else lesson.generic)


def _lesson_of(request: ModelRequest) -> Lesson:
    said = {item["content"] for item in request.messages if item["type"] == "message"}
    for lesson in LESSONS:
        if lesson.question in said:
            return lesson
    raise ModelError("refused request", "no answer is scripted for this question; name a model: --model")
