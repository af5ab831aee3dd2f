"""LangChain's ChatAnthropic, as its users call it."""
import anthropic
import httpx2
from client_support import MODEL, OPTIONS, PIXEL, recording_client, run
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_support import OSLO, Features, first_turn, get_weather, results

RECORDING = recording_client(httpx2)


def chat(url, **fields):
    made = ChatAnthropic(base_url=url, api_key="none", max_retries=0, **fields)
    # It takes no client of the caller's; this one only writes down what it sees.
    made.__dict__["_client"] = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0,
                                                   http_client=RECORDING)
    return made


def fake(**fields):
    return chat(OPTIONS.scripted, **{"model": "fake", "max_tokens": 4000, **fields})


def real(**fields):
    return chat(OPTIONS.served, **{"model": MODEL, "max_tokens": 32, "model_kwargs": {
        "extra_body": {"temperature": 0}}, **fields})


@tool
def screenshot() -> str:
    """A picture of the screen."""
    return "taken"


FEATURES = Features(fake, real, anthropic.BadRequestError)


def image_in_tool_result():
    bound = fake().bind_tools([screenshot])
    answer = bound.invoke("case:picture")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                         "data": PIXEL}}
    result = ToolMessage([{"type": "text", "text": "Here it is."}, image],
                         tool_call_id=answer.tool_calls[0]["id"])
    last = bound.invoke([HumanMessage("case:picture"), answer, result])
    assert last.text == "I see a note about an image.", last


def thinking_and_a_tool():
    bound = fake(thinking={"type": "enabled", "budget_tokens": 1024}).bind_tools([get_weather])
    turns = [HumanMessage("case:thinking-tool")]
    answer = bound.invoke(turns)
    calls, thought = first_turn(answer)
    assert calls == [OSLO], answer
    assert thought[0]["reasoning"].strip() == "The user asks about Oslo.", answer
    assert bound.invoke([*turns, answer, *results(answer)]).text == "It snows in Oslo."


def token_count():
    model = real(max_tokens=1)
    question = [HumanMessage("What is the capital of France?")]
    usage = model.invoke(question).usage_metadata
    assert model.get_num_tokens_from_messages(question) == usage["input_tokens"], usage


run({**FEATURES.table(), "image in tool result": image_in_tool_result,
     "thinking and a tool": thinking_and_a_tool, "token count": token_count,
     "structured output": lambda: FEATURES.structured_output(method="json_schema"),
     "errors": lambda: FEATURES.errors(anthropic.BadRequestError, anthropic.APIStatusError)})
