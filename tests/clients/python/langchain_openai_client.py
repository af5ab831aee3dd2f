"""LangChain's ChatOpenAI and OpenAIEmbeddings, as their users call them."""
import httpx2
import openai
from client_support import CAPITAL, MODEL, OPTIONS, SYSTEM, recording_client, run
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langchain_support import Features

RECORDING = recording_client(httpx2)


def chat(url, **fields):
    return ChatOpenAI(base_url=url + "/v1", api_key="none", max_retries=0, http_client=RECORDING,
                      **fields)


def fake(**fields):
    return chat(OPTIONS.scripted, **{"model": "fake", "stream_usage": True, **fields})


def real(**fields):
    return chat(OPTIONS.served, **{"model": MODEL, "max_tokens": 32, "temperature": 0,
                                   "stream_usage": True, **fields})


FEATURES = Features(fake, real, openai.BadRequestError)


def log_probabilities():
    answer = real(logprobs=True, top_logprobs=2).invoke(CAPITAL)
    tokens = answer.response_metadata["logprobs"]["content"]
    assert len(tokens) > 1 and all(len(token["top_logprobs"]) == 2 for token in tokens), tokens


def several_choices():
    made = real(n=3, temperature=1.5, max_tokens=12).generate([[HumanMessage("Tell me a story.")]])
    texts = {generation.text for generation in made.generations[0]}
    assert len(made.generations[0]) == 3 and len(texts) > 1, texts


def seed():
    def story(number):
        return real(seed=number, temperature=1.2, max_tokens=16).invoke("Tell me a story.").text
    story(1)  # from now on the prompt is in the cache: each answer computes the same rows
    assert story(7) == story(7), "the same seed told another story"
    assert len({story(number) for number in range(4)}) > 1, "the seed changes nothing"


def embeddings():
    # The switch keeps it from sending token numbers of a vocabulary that is not this model's.
    made = OpenAIEmbeddings(base_url=OPTIONS.served + "/v1", api_key="none", model=MODEL,
                            check_embedding_ctx_length=False, http_client=RECORDING)
    vectors = made.embed_documents(["A cat.", "A dog.", "A cat."])
    assert len(vectors) == 3 and len(vectors[0]) == 576, len(vectors[0])
    assert vectors[0] != vectors[1], "one vector for different texts"


def responses():
    answer = real(use_responses_api=True).invoke([("system", SYSTEM), ("human", CAPITAL)])
    assert "Paris" in answer.text, answer


run({**FEATURES.table(), "log-probabilities": log_probabilities,
     "several choices": several_choices, "seed": seed, "embeddings": embeddings,
     "responses": responses, "structured output": FEATURES.structured_output,
     "errors": lambda: FEATURES.errors(openai.BadRequestError, openai.APIError)})
