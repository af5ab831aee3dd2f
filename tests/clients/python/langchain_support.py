"""Features that LangChain has whatever it talks to."""
from client_support import (CAPITAL, FORECAST_VALUE, LONG, SYSTEM, WEATHER, fresh, idle, raised)
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel


@tool
def get_weather(city: str) -> str:
    """The weather."""
    return "snow, -3" if city == "Oslo" else "sun, 20"


class Forecast(BaseModel):
    """A forecast."""
    city: str
    degrees: int


OSLO = ("get_weather", {"city": "Oslo"})
ROME = ("get_weather", {"city": "Rome"})
assert "city" in WEATHER["properties"]


def calls(message):
    return [(call["name"], call["args"]) for call in message.tool_calls]


def results(message):
    return [ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
            for call in message.tool_calls]


def gathered(chunks):
    """The sum of streamed chunks."""
    total = None
    for chunk in chunks:
        total = chunk if total is None else total + chunk
    return total


class Features:
    """`fake` and `real` make a chat model, given more of its parameters."""

    def __init__(self, fake, real, overflow):
        self.fake = fake
        self.real = real
        self.overflow = overflow  # the exception of a prompt that is too long

    def plain_text(self):
        answer = self.real().invoke([SystemMessage(SYSTEM), HumanMessage(CAPITAL)])
        assert "Paris" in answer.text, answer
        usage = answer.usage_metadata
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"], usage

    def system_prompt(self):
        answer = self.real().invoke([
            ("system", "You are a pirate called Captain Barnacle. Always say your name."),
            ("human", "Who are you?")])
        assert "Barnacle" in answer.text, answer

    def conversation(self):
        turns = [SystemMessage(SYSTEM), HumanMessage(CAPITAL)]
        answer = self.real().invoke([*turns, self.real().invoke(turns),
                                     HumanMessage("And of Japan?")])
        assert "Tokyo" in answer.text, answer

    def streaming(self):
        turns = [SystemMessage(SYSTEM), HumanMessage(CAPITAL)]
        whole = self.real().invoke(turns)
        chunks = list(self.real().stream(turns))
        total = gathered(chunks)
        assert total.text == whole.text and len(chunks) > 2, chunks
        assert total.usage_metadata["output_tokens"] == whole.usage_metadata["output_tokens"]
        assert total.usage_metadata["input_tokens"] == whole.usage_metadata["input_tokens"]

    def one_tool(self):
        for choice in ("auto", "any", "get_weather"):
            bound = self.fake().bind_tools([get_weather], tool_choice=choice)
            assert calls(bound.invoke("case:one-tool")) == [OSLO], choice

    def two_parallel_tools(self):
        answer = self.fake().bind_tools([get_weather]).invoke("case:two-tools")
        assert calls(answer) == [OSLO, ROME], answer
        assert answer.text.strip() == "I will look.", answer

    def tool_result(self):
        bound = self.fake().bind_tools([get_weather])
        turns = [HumanMessage("case:two-rounds")]
        for _ in range(2):
            answer = bound.invoke(turns)
            turns += [answer, *results(answer)]
        assert bound.invoke(turns).text == "Snow and sun.", turns

    def streamed_tool_call(self):
        bound = self.fake().bind_tools([get_weather])
        chunks = list(bound.stream("case:slow-tools"))
        assert calls(gathered(chunks)) == [OSLO, ROME], chunks
        assert sum(1 for chunk in chunks if chunk.tool_call_chunks) > 2, chunks

    def structured_output(self, **how):
        made = self.fake().with_structured_output(Forecast, **how)
        assert made.invoke("case:structured") == Forecast(**FORECAST_VALUE)

    def stop_sequence(self):
        answer = self.fake().invoke("case:stop", stop=["never", "STOP"])
        assert answer.text == "one two ", answer

    def errors(self, bad_request, api_error):
        raised(bad_request, lambda: self.real().invoke([HumanMessage("Hi")], stop=[5]))
        raised(api_error, lambda: self.fake().invoke("case:breaks-down"))
        raised(api_error, lambda: list(self.fake().stream("case:breaks-down")))

    def prompt_too_long(self):
        error = raised(self.overflow, lambda: self.real().invoke(f"{LONG} {LONG}"))
        assert "prompt is too long: " in str(error), error

    def abort(self):
        stream = self.fake().stream("case:slow")
        next(chunk for chunk in stream if chunk.text)
        stream.close()
        idle()

    def cache_counters(self):
        question = fresh(LONG[:1500])
        first, second = (self.real(max_tokens=4).invoke(question).usage_metadata
                         for _ in range(2))
        assert second["input_token_details"]["cache_read"] > 200, second
        assert first["input_tokens"] == second["input_tokens"], (first, second)

    def table(self):
        return {
            "plain text": self.plain_text, "system prompt": self.system_prompt,
            "conversation": self.conversation, "streaming": self.streaming,
            "one tool": self.one_tool, "two parallel tools": self.two_parallel_tools,
            "tool result": self.tool_result, "streamed tool call": self.streamed_tool_call,
            "stop sequence": self.stop_sequence, "prompt too long": self.prompt_too_long,
            "abort": self.abort, "cache counters": self.cache_counters}


def first_turn(message: AIMessage):
    """The calls and the thought of a message."""
    thought = [block for block in message.content_blocks if block["type"] == "reasoning"]
    return calls(message), thought
