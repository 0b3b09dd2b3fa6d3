"""The reference for chat templates: jinja2 in transformers' own environment.

`Reference().render(template, variables)` and `.render_conversation(template, conversation)` give
("text", …), ("raised", …) for raise_exception, or ("error", "Class: message"). strftime_now prints
2024-07-26 09:05:03.
"""

import datetime
import json

import jinja2
from jinja2.exceptions import TemplateError
from transformers.utils import chat_template_utils

NOW = datetime.datetime(2024, 7, 26, 9, 5, 3)


class _Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = _Clock


def prepare(conversation):
    """What `crane template --input` promises: transformers' apply_chat_template up to the render."""
    kwargs = dict(conversation.get("chat_template_kwargs") or {})
    for token in ("bos_token", "eos_token"):
        if conversation.get(token) is not None:
            kwargs[token] = conversation[token]
    return dict(
        conversations=[chat_template_utils._normalize_chat_messages(conversation["messages"])],
        tools=conversation.get("tools"),
        documents=conversation.get("documents"),
        add_generation_prompt=conversation.get("add_generation_prompt", False),
        **kwargs,
    )


def outcome(render):
    try:
        return ("text", render())
    except TemplateError as error:
        if type(error) is TemplateError:
            return ("raised", str(error))
        return ("error", f"{type(error).__name__}: {error}")
    except RecursionError:
        return ("error", "RecursionError: too deep")
    except Exception as error:  # whatever Python raises inside a template
        return ("error", f"{type(error).__name__}: {error}")


def render(template, variables):
    return outcome(
        lambda: chat_template_utils._compile_jinja_template(template).render(**variables))


def render_conversation(template, conversation):
    conversation = json.loads(json.dumps(conversation))  # nothing is shared between renders
    return outcome(lambda: chat_template_utils.render_jinja_template(
        chat_template=template, **prepare(conversation))[0][0])
