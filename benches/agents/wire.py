"""Two ways to speak to a model: OpenAI's chat completions and Anthropic's messages, with tools. One `Talk` hides which."""

import json
import time
import urllib.error
import urllib.request

PATIENCE = 600
# Answers that a server asks to try again after.
AGAIN = (408, 429, 500, 502, 503, 529)


def post(url, headers, body):
    data = json.dumps(body).encode()
    for attempt in range(5):
        request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in AGAIN or attempt == 4:
                raise RuntimeError(f"{url} answers {error.code}: {error.read(500).decode(errors='replace')}") from error
        time.sleep(2**attempt)


def endpoint(environment):
    """The wire, address, key and model that the environment names: AGENT_MODEL, and the variables of one of the two services."""
    model = environment.get("AGENT_MODEL")
    for wire, service, default in [("openai", "OPENAI", "https://api.openai.com/v1"), ("anthropic", "ANTHROPIC", "https://api.anthropic.com")]:
        key = environment.get(f"{service}_API_KEY")
        if key and model and environment.get("AGENT_WIRE", wire) == wire:
            return {"wire": wire, "url": environment.get(f"{service}_BASE_URL", default).rstrip("/"), "key": key, "model": model}
    return None


class Talk:
    """One conversation. `say` and `results` give the text and the calls of the model's next turn."""

    def __init__(self, endpoint, system, tools):
        self.to, self.system, self.tools, self.messages = endpoint, system, tools, []
        self.tokens_in = self.tokens_out = 0

    def say(self, text):
        self.messages.append({"role": "user", "content": text})
        return self.turn()

    def results(self, results):
        """Answers to the calls of the last turn: (id, text) each."""
        if self.to["wire"] == "openai":
            self.messages += [{"role": "tool", "tool_call_id": call, "content": text} for call, text in results]
        else:
            parts = [{"type": "tool_result", "tool_use_id": call, "content": text} for call, text in results]
            self.messages.append({"role": "user", "content": parts})
        return self.turn()

    def turn(self):
        return self.openai() if self.to["wire"] == "openai" else self.anthropic()

    def openai(self):
        tools = [{"type": "function", "function": {"name": tool["name"], "description": tool["description"],
                                                   "parameters": tool["schema"]}} for tool in self.tools]
        body = {"model": self.to["model"], "tools": tools, "messages": [{"role": "system", "content": self.system}, *self.messages]}
        answer = post(f"{self.to['url']}/chat/completions", {"Authorization": f"Bearer {self.to['key']}"}, body)
        usage = answer.get("usage", {})
        self.tokens_in += usage.get("prompt_tokens", 0)
        self.tokens_out += usage.get("completion_tokens", 0)
        message = answer["choices"][0]["message"]
        self.messages.append({key: message[key] for key in ("role", "content", "tool_calls") if message.get(key) is not None})
        calls = []
        for call in message.get("tool_calls") or []:
            calls.append((call["id"], call["function"]["name"], read(call["function"]["arguments"])))
        return message.get("content") or "", calls

    def anthropic(self):
        tools = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["schema"]} for tool in self.tools]
        body = {"model": self.to["model"], "max_tokens": 8192, "system": self.system, "tools": tools, "messages": self.messages}
        answer = post(f"{self.to['url']}/v1/messages", {"x-api-key": self.to["key"], "anthropic-version": "2023-06-01"}, body)
        usage = answer.get("usage", {})
        self.tokens_in += sum(usage.get(key) or 0 for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"))
        self.tokens_out += usage.get("output_tokens", 0)
        self.messages.append({"role": "assistant", "content": answer["content"]})
        text = "".join(part["text"] for part in answer["content"] if part["type"] == "text")
        return text, [(part["id"], part["name"], part["input"]) for part in answer["content"] if part["type"] == "tool_use"]


def read(arguments):
    """Arguments as a model wrote them; what is no object is an empty one, and the tool says what is missing."""
    try:
        found = json.loads(arguments or "{}")
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}
