#!/usr/bin/env python3
"""Time to the first answers of a server with and without models.

  first_answer.py --program codelode --folder DIR [--runs 5] [--wait 0.2]

A stand-in for a service answers each request of OpenAI's interface after --wait seconds. Each run starts a server with an
empty index directory, asks index_folder and then one search, and ends it. Runs take turns: without models, with summaries,
with embeddings, with both. Of each, the median and the range of the seconds until index_folder and until the search have
answered, and of the processor seconds that the server had taken when index_folder answered.
"""
import argparse, http.server, json, os, statistics, tempfile, threading, time

from client import Server

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


def processor_seconds(process):
    fields = open(f'/proc/{process.pid}/stat').read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def run(program, folder, args, base):
    with tempfile.TemporaryDirectory() as index:
        env = {'CODELODE_INDEX_PATH': index, 'OPENAI_API_BASE': base, 'OPENAI_EMBED_MODEL': 'stand-in', 'OPENAI_MODEL': 'stand-in',
               'CODELODE_TRUSTED_HOSTS': 'localhost'}
        server = Server(program, env)
        begun = time.monotonic()
        told = server.call('index_folder', path=folder, **args)
        indexed, worked = time.monotonic() - begun, processor_seconds(server.process)
        server.call('search_symbols', query='parse a request and check its headers', repo=told['repo'])
        searched = time.monotonic() - begun
        server.end()
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
