"""A server that speaks both wire forms and plays a model: its turns follow a script, and each request is kept."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What every turn says it cost.
TOKENS_IN, TOKENS_OUT = 100, 7


class Scripted:
    """`turns` is given the tools' names and the first message, and gives the turns: (tool, arguments) or a last text."""

    def __init__(self, turns):
        self.turns, self.requests, self.refusals = turns, [], 0
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {key.lower(): value for key, value in self.headers.items()}
                scripted.requests.append((self.path, headers, body))
                if scripted.refusals:
                    scripted.refusals -= 1
                    return self.answer(429, {"error": "slower"})
                self.answer(200, scripted.openai(body) if self.path.endswith("/chat/completions") else scripted.anthropic(body))

            def answer(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self, names, first, number):
        return self.turns(names, first)[number]

    def openai(self, body):
        names = [tool["function"]["name"] for tool in body["tools"]]
        first = next(message["content"] for message in body["messages"] if message["role"] == "user")
        number = sum(message["role"] == "assistant" for message in body["messages"])
        turn = self.next(names, first, number)
        message = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
        if not isinstance(turn, str):
            function = {"name": turn[0], "arguments": json.dumps(turn[1])}
            message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
        return {"choices": [{"message": message}], "usage": {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}}

    def anthropic(self, body):
        names = [tool["name"] for tool in body["tools"]]
        number = sum(message["role"] == "assistant" for message in body["messages"])
        turn = self.next(names, body["messages"][0]["content"], number)
        if isinstance(turn, str):
            content = [{"type": "text", "text": turn}]
        else:
            content = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": f"toolu_{number}", "name": turn[0], "input": turn[1]}]
        return {"role": "assistant", "content": content, "usage": {"input_tokens": TOKENS_IN - 40, "cache_read_input_tokens": 40,
                                                                     "output_tokens": TOKENS_OUT}}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
