#!/usr/bin/env python3
"""Time to the first answers of a server with and without models.

  first_answer.py --program codelode --folder DIR [--runs 5] [--wait 0.2]

A stand-in for a service answers each request of OpenAI's interface after --wait seconds. Each run starts a server with an
empty index directory, asks index_folder and then one search, and ends it. Runs take turns: without models, with summaries,
with embeddings, with both. Of each, the median and the range of the seconds until index_folder and until the search have
answered, and of the processor seconds that the server had taken when index_folder answered.
"""
import argparse, http.server, json, os, statistics, subprocess, tempfile, threading, time

KINDS = [('neither', {}), ('summaries', {'use_ai_summaries': True}), ('embeddings', {'embed': True}),
         ('both', {'use_ai_summaries': True, 'embed': True})]


class StandIn(http.server.BaseHTTPRequestHandler):
    wait = 0.2

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        time.sleep(self.wait)
        if self.path.endswith('/embeddings'):
            answer = {'data': [{'embedding': [1.0, 0.5, 0.25, 0.125]} for _ in body['input']]}
        else:
            items = json.loads(body['messages'][1]['content'])
            answer = {'choices': [{'message': {'content': '\n'.join(f"{item['number']}: Does its work." for item in items)}}]}
        answer = json.dumps(answer).encode()
        try:
            self.send_response(200)
            self.send_header('content-length', str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            pass  # the server was ended meanwhile

    def log_message(self, *_):
        pass


class Server:
    """A client over stdio."""

    def __init__(self, program, env):
        self.p = subprocess.Popen([program, 'serve'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, env={**os.environ, **env})
        self.n = 0
        self.ask('initialize', {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 'bench', 'version': '1'}})

    def ask(self, method, params):
        self.n += 1
        self.p.stdin.write((json.dumps({'jsonrpc': '2.0', 'id': self.n, 'method': method, 'params': params}) + '\n').encode())
        self.p.stdin.flush()
        for line in self.p.stdout:
            answer = json.loads(line)
            if answer.get('id') == self.n and 'method' not in answer:
                return answer['result']
        raise RuntimeError('the server has ended')

    def call(self, tool, **args):
        result = self.ask('tools/call', {'name': tool, 'arguments': {**args, 'format': 'json'}})
        value = result.get('structuredContent') or json.loads(result['content'][0]['text'])
        if result.get('isError'):
            raise RuntimeError(str(value)[:500])
        return value

    def processor_seconds(self):
        fields = open(f'/proc/{self.p.pid}/stat').read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def run(program, folder, args, base):
    with tempfile.TemporaryDirectory() as index:
        env = {'CODE_INDEX_PATH': index, 'OPENAI_API_BASE': base, 'OPENAI_EMBED_MODEL': 'stand-in', 'OPENAI_MODEL': 'stand-in',
               'CODELODE_TRUSTED_HOSTS': 'localhost'}
        server = Server(program, env)
        begun = time.monotonic()
        told = server.call('index_folder', path=folder, **args)
        indexed, worked = time.monotonic() - begun, server.processor_seconds()
        server.call('search_symbols', query='parse a request and check its headers', repo=told['repo'])
        searched = time.monotonic() - begun
        server.p.kill()
        server.p.wait()
        return indexed, searched, worked, told


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--program', default='codelode')
    options.add_argument('--folder', required=True)
    options.add_argument('--runs', type=int, default=5)
    options.add_argument('--wait', type=float, default=0.2)
    options = options.parse_args()
    StandIn.wait = options.wait
    service = http.server.ThreadingHTTPServer(('localhost', 0), StandIn)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    base = f'http://localhost:{service.server_port}/v1'
    rows = {kind: [] for kind, _ in KINDS}
    for _ in range(options.runs):
        for kind, args in KINDS:
            rows[kind].append(run(options.program, options.folder, args, base))
    told = rows['both'][0][3]
    print(f"{told['file_count']} files, {told['symbol_count']} symbols, summaries pending {told['summaries']['summaries_pending']}")
    for kind, runs in rows.items():
        parts = []
        for name, values in zip(('indexed', 'searched', 'processor'), list(zip(*runs))[:3]):
            parts.append(f'{name} {statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})')
        print(f'{kind:10}', ', '.join(parts))


main()
