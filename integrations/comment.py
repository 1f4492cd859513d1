#!/usr/bin/env python3
"""Puts a review into one comment of a pull request, or replaces the text of that comment: comment.py github|gitea|gitlab < REVIEW

GitHub and Gitea: GITHUB_API_URL, GITHUB_REPOSITORY, PULL_REQUEST, TOKEN. GitLab: CI_API_V4_URL, CI_PROJECT_ID,
CI_MERGE_REQUEST_IID, TOKEN.
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

MARK = "<!-- codelode review -->"
# Services take about 65,000 characters.
LONGEST = 60_000
PAGE = 100


def ask(method, url, headers, body=None):
    data = None if body is None else json.dumps({"body": body}).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def places(service):
    """Headers, the address of all comments, the address of one, and the method that changes one."""
    env, token = os.environ, os.environ["TOKEN"]
    if service == "gitlab":
        project = urllib.parse.quote(env["CI_PROJECT_ID"], safe="")
        notes = f"{env['CI_API_V4_URL']}/projects/{project}/merge_requests/{env['CI_MERGE_REQUEST_IID']}/notes"
        return {"PRIVATE-TOKEN": token}, notes, notes, "PUT"
    repo = f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}"
    headers = {"Authorization": f"token {token}", "Accept": "application/json"}
    return headers, f"{repo}/issues/{env['PULL_REQUEST']}/comments", f"{repo}/issues/comments", "PATCH"


def known(comments, headers):
    """The id of the comment that an earlier run made."""
    page, seen = 1, None
    while True:
        found = ask("GET", f"{comments}?per_page={PAGE}&limit={PAGE}&page={page}", headers)
        for comment in found:
            if (comment.get("body") or "").startswith(MARK):
                return comment["id"]
        ids = [comment["id"] for comment in found]
        # Some services give all comments on each page.
        if not found or ids == seen:
            return None
        page, seen = page + 1, ids


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("github", "gitea", "gitlab"):
        sys.exit(__doc__)
    text = f"{MARK}\n{sys.stdin.read()}"
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit("\n", 1)[0] + "\n\n… the rest was cut\n"
        text += "</details>\n" * (text.count("<details>") - text.count("</details>"))
    headers, comments, one, method = places(sys.argv[1])
    try:
        comment = known(comments, headers)
        if comment is None:
            ask("POST", comments, headers, text)
        else:
            ask(method, f"{one}/{comment}", headers, text)
    except urllib.error.URLError as err:
        sys.exit(f"the review could not be written: {err}")


if __name__ == "__main__":
    main()
