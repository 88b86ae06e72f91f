"""The service: what it answers, what it refuses, and that it is what it says it is."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import jsonschema
import pytest
from typer.testing import CliRunner

from rhetorica import Document, Join, Parse, RSTTree, load
from rhetorica.edit import relabel
from rhetorica.errors import MissingExtra, RhetoricaError
from rhetorica.formats.native import from_dict, schema, to_dict
from rhetorica.models.store import models
from rhetorica.service import Limits, serve
from rhetorica.service.guard import CONTENT_SECURITY
from service_tools import running

TEXT = "We stayed at home because it rained. Nobody complained."
BOMB = (
    '<!DOCTYPE r [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + ']><rst><body><segment id="1">&i;</segment></body></rst>'
)
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rst>&a;</rst>'
DTD = '<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd"><rst><body><segment id="1">a</segment></body>'


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=300) as client:
        yield client


def post(client: httpx.Client, path: str, **body: Any) -> httpx.Response:
    return client.post(f"/api/{path}", json=body)


def refused(response: httpx.Response, status: int, error: str, message: str = "") -> None:
    assert response.status_code == status, response.text
    problem = response.json()
    assert set(problem) == {"error", "message"}
    assert problem["error"] == error
    assert message in problem["message"]


def two(relation: str = "cause") -> Parse:
    return Parse(
        Document.from_edus(["It is wet", "because it rained."], id="two"),
        RSTTree(2, (Join(0, 1, 2, "NS", relation),)),
    )


def test_parse(client: httpx.Client) -> None:
    answer = post(client, "parse", content=TEXT, kbest=2, name="home").json()
    jsonschema.validate(answer, schema())
    assert from_dict(answer) == load("en")(Document(TEXT, id="home"), kbest=2)


def test_a_document_keeps_its_edus(client: httpx.Client) -> None:
    content = "We stayed\nat home because it rained.\n"
    answer = post(client, "parse", content=content, format="edus").json()
    assert len(answer["document"]["edus"]) == 2


@pytest.mark.parametrize("to", ["rs3", "rs4", "dis", "rsd", "dep", "conllu", "tok", "rels", "edus"])
def test_answers_in_other_formats(client: httpx.Client, to: str) -> None:
    response = post(client, "parse", content=TEXT, to=to)
    assert response.status_code == 200, response.text
    assert "rained" in response.text
    assert response.headers["x-content-type-options"] == "nosniff"


def test_segment(client: httpx.Client) -> None:
    for segmenter in ("neural", "rules"):
        response = post(client, "segment", content=TEXT, segmenter=segmenter, to="edus")
        assert response.text.splitlines()[0] == "We stayed at home"


def test_batch(client: httpx.Client) -> None:
    documents = [{"content": TEXT}, {"content": "<rst>", "format": "rs3"}, {"content": "Yes."}]
    results = post(client, "parse/batch", documents=documents).json()["results"]
    assert [set(result) for result in results] == [{"parse"}, {"error", "message"}, {"parse"}]
    assert results[2]["parse"]["document"]["text"] == "Yes."


def test_convert_and_score(client: httpx.Client) -> None:
    source = {"content": to_dict(two()), "format": "json"}
    rs3 = post(client, "convert", **source, to="rs3").text
    assert '<segment id="1"' in rs3
    right = {"content": rs3, "format": "rs3"}
    wrong = {"content": to_dict(two("condition")), "format": "json"}
    scores = post(client, "score", gold=right, predicted=wrong).json()["scores"]
    full = {row["figure"]: row["f1"] for row in scores if row["metric"] == "parseval"}
    assert full["span"] == 1.0
    assert full["full"] < 1.0


def test_edit(client: httpx.Client) -> None:
    source = {"content": to_dict(two()), "format": "json"}
    operations = [
        {"op": "relabel", "unit": [1, 2], "relation": "result"},
        {"op": "nuclearity", "unit": [1, 2], "part": "nucleus"},
        {"op": "split", "edu": 1, "at": 21, "relation": "x"},
        {"op": "reattach", "unit": [2, 3], "target": [0, 3], "relation": "y", "role": "nucleus"},
        {"op": "merge", "edu": 1},
    ]
    answer = from_dict(post(client, "edit", **source, operations=operations).json())
    assert answer.tree.joins == (Join(0, 1, 2, "SN", "result"),)
    one = post(client, "edit", **source, operations=operations[:1]).json()
    assert from_dict(one) == relabel(two(), (1, 2), "result")
    assert post(client, "edit/points", **source, unit=[1, 2]).json() == {"points": [[0, 1]]}
    bad = [{"op": "merge", "edu": 7}]
    refused(post(client, "edit", **source, operations=bad), 422, "InvalidEdit", "no EDU 7")


def test_draw(client: httpx.Client) -> None:
    source = {"content": to_dict(two("<script>alert(1)</script>")), "format": "json"}
    for to, start in [("svg", b"<svg"), ("html", b"<!"), ("png", b"\x89PNG")]:
        response = post(client, "render", **source, to=to)
        assert response.status_code in (200, 501), response.text
        if response.status_code == 200:
            assert response.content[: len(start)].lower() == start.lower()
            assert b"<script>alert" not in response.content
            assert "script-src" not in response.headers["content-security-policy"]
            assert "sandbox" in response.headers["content-security-policy"]


def test_dialogue(client: httpx.Client) -> None:
    chats = "Agent: Where to?\nClient: To the airport.\nAgent: Good bye.\n\n" * 8
    request = {"content": chats, "model": "lm-hmm", "states": 3, "sweeps": 20}
    found = client.post("/api/dialogue", json=request).json()
    assert len(found["flow"]["states"]) == 3
    assert found["svg"].startswith("<svg")
    assert "To the airport." in found["html"]
    refused = client.post("/api/dialogue", json={"content": "nobody says this"})
    assert refused.status_code == 422
    assert "no speaker" in refused.json()["message"]


def test_facts(client: httpx.Client) -> None:
    assert client.get("/api/health").json()["status"] == "ok"
    assert client.get("/api/progress/unheard-of").json() == {"read": None}
    assert client.get("/api/version").json().keys() == {"version"}
    assert client.get("/api/schema").json() == schema()
    info = client.get("/api/info").json()
    assert "gum" in info["parsers"]["neural"]
    assert info["formats"]["rels"]["readable"] is False


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/dialogue", "/static/app.js", "/api/openapi.json", "/nothing"]
)
def test_pages_forbid_scripts_of_others(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    assert response.headers["content-security-policy"] == CONTENT_SECURITY
    assert "<script>" not in response.text
    assert "style=" not in response.text


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ({}, "InvalidRequest", "content: Field required"),
        ({"content": 7}, "InvalidRequest", "valid string"),
        ({"content": "a", "parser": "no"}, "InvalidRequest", "'neural'"),
        ({"content": "a", "model": "/etc"}, "InvalidRequest", "'gum'"),
        ({"content": "a", "model": "../models"}, "InvalidRequest", "'gum'"),
        ({"content": "a", "segmenter": "/tmp"}, "InvalidRequest", "'crf'"),
        ({"content": "a", "format": "rels"}, "InvalidRequest", "'rs3'"),
        ({"content": "a", "file": "/etc/passwd"}, "InvalidRequest", "Extra inputs"),
        ({"text": "a"}, "InvalidRequest", "/docs tells the fields"),
        ({"content": "a", "kbest": 0}, "InvalidRequest", "greater than or equal to 1"),
        ({"content": {}, "format": "rs3"}, "FormatError", "an object is json"),
        ({"content": {}, "format": "json"}, "FormatError", "not our JSON"),
        ({"content": "<rst>", "format": "rs3"}, "FormatError", "input:1: not well-formed XML"),
        ({"content": BOMB, "format": "rs3"}, "FormatError", "entity definitions are not allowed"),
        ({"content": OUTSIDE, "format": "rs4"}, "FormatError", "entity definitions"),
        ({"content": "/etc/passwd", "format": "rs3"}, "FormatError", "not well-formed"),
        ({"content": "\ud800"}, "FormatError", "surrogate"),
        ({"content": "[" * 9999, "format": "json"}, "FormatError", "nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(
    client: httpx.Client, body: dict[str, Any], error: str, message: str
) -> None:
    data = json.dumps(body)
    response = client.post("/api/parse", content=data, headers={"content-type": "application/json"})
    refused(response, 422, error, message)


def test_a_wrong_method_names_the_right_one(client: httpx.Client) -> None:
    refused(client.get("/api/parse"), 405, "HTTPError", "/api/parse takes POST, not GET")


def test_the_head_of_an_answer_can_be_asked_for(client: httpx.Client) -> None:
    assert client.head("/api/parse").status_code == 405
    for path in ("/", "/api/health"):
        answer = client.head(path)
        assert answer.status_code == 200
        assert answer.content == b""
        assert int(answer.headers["content-length"]) > 0


def test_a_dtd_is_not_fetched(client: httpx.Client) -> None:
    assert (
        post(client, "convert", content=f"{DTD}</rst>", format="rs3", to="edus").text.strip() == "a"
    )


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, '{"content": ' + "9" * 5000 + "}"])
def test_what_is_not_json(client: httpx.Client, body: str) -> None:
    response = client.post("/api/parse", content=body, headers={"content-type": "application/json"})
    assert 400 <= response.status_code < 500
    assert set(response.json()) == {"error", "message"}


def test_other_sites_are_kept_out(client: httpx.Client, address: str) -> None:
    body = {"content": "Yes."}
    own = address.removeprefix("http://")

    def ask(**headers: str) -> httpx.Response:
        names = {key.replace("_", "-"): value for key, value in headers.items()}
        return client.post("/api/parse", json=body, headers=names)

    assert ask(origin=address).status_code == 200
    assert ask(host=own.replace("127.0.0.1", "localhost")).status_code == 200
    assert ask(host="[::1]:80").status_code == 200
    refused(ask(host="evil.example"), 421, "UnknownHost", "evil.example")
    refused(ask(origin="http://evil.example"), 403, "ForeignOrigin")
    refused(ask(origin="null"), 403, "ForeignOrigin")
    refused(ask(origin="http://127.0.0.1:1"), 403, "ForeignOrigin")
    refused(ask(sec_fetch_site="cross-site"), 403, "ForeignOrigin")
    # What a form on another page can send without asking first is not JSON.
    plain = client.post(
        "/api/parse", content=json.dumps(body), headers={"content-type": "text/plain"}
    )
    assert plain.status_code == 422
    assert "access-control-allow-origin" not in plain.headers


@pytest.fixture(scope="module")
def narrow() -> Iterator[str]:
    limits = Limits(
        max_bytes=5000,
        max_chars=100,
        max_batch=2,
        upload_seconds=0.5,
    )
    with running(limits, hosts=("known.example",)) as url:
        yield url


def test_sizes_are_bounded(narrow: str) -> None:
    with httpx.Client(base_url=narrow, timeout=30) as client:
        refused(post(client, "parse", content="x" * 101), 413, "TooLarge", "101 characters")
        refused(post(client, "parse", content="x" * 6000), 413, "TooLarge", "5,000 bytes")
        pieces = (b"x" * 1000 for _ in range(9))
        headers = {"content-type": "application/json"}
        chunked = client.post("/api/parse", content=pieces, headers=headers)
        assert "content-length" not in chunked.request.headers
        refused(chunked, 413, "TooLarge")
        batch = [{"content": "x"}] * 3
        refused(post(client, "parse/batch", documents=batch), 413, "TooLarge", "3 documents")
        known = client.get("/api/health", headers={"host": "known.example"})
        assert known.status_code == 200


def test_slow_uploads_are_cut(narrow: str) -> None:
    host, port = narrow.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(
            b"POST /api/parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 408")


def test_clients_are_not_mixed_up(client: httpx.Client) -> None:
    """Many clients at once, each with texts of its own, by a parser with syntax and one without."""

    def ask(number: int) -> tuple[int, str, str]:
        text = f"Number {number} stayed at home because it rained. Then {number} left."
        parser = "li2014" if number % 12 == 0 else "neural"
        answer = post(client, "parse", content=text, name=str(number), parser=parser).json()
        return number, text, json.dumps(answer)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(24)))
    parsers = {name: load("en", parser=name) for name in ("neural", "li2014")}
    for number, text, answer in answers:
        parse = from_dict(json.loads(answer))
        assert parse.document.text == text
        assert parse.id == str(number)
        if number % 4 == 0:
            name = parse.provenance["parser"]
            assert parse == parsers[name](Document(text, id=str(number)))


def test_a_port_in_use_is_said() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        pytest.raises(RhetoricaError, match=r"cannot listen on 127\.0\.0\.1 port .* --port"),
    ):
        serve(port=other.getsockname()[1])


def test_answers_are_sent_without_delay() -> None:
    from rhetorica.service.server import listen

    # asyncio looks at the protocol of accepted sockets before it sets TCP_NODELAY.
    with (
        listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.proto == socket.IPPROTO_TCP


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "rhetorica.service.app", raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rhetorica\[serve\]'"):
        serve()


def test_serving_others_is_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    from rhetorica.cli import app
    from rhetorica.cli import serve as command

    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(command, "run_service", lambda *args, **more: asked.append((args, more)))
    for host, expected in [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)]:
        result = CliRunner().invoke(app, ["serve", "--host", host, "--timeout", "5"])
        assert result.exit_code == 0, result.output
        assert ("warning" in result.output) == expected
    assert asked[0][0] == ("127.0.0.1", 8000)
    assert asked[0][1]["limits"].seconds == 5


def test_relations_with_what_they_mean(client: httpx.Client) -> None:
    sets = client.get("/api/relations").json()
    assert set(sets) == set(client.get("/api/info").json()["relations"])
    cause = next(r for r in sets["gum"]["relations"] if r["name"] == "causal-cause")
    assert (cause["type"], cause["class"]) == ("rst", "causal")
    assert all(cause[field] for field in ("definition", "example"))
    assert len({entry["name"] for entry in sets["gum"]["classes"]}) == 15


@pytest.mark.skipif(not models("parser", language="zh"), reason="rhetorica-zh is not installed")
def test_chinese(client: httpx.Client) -> None:
    text = "如果明天天晴，我就拿它去修一修。"
    for language in ("auto", "zh"):
        answer = post(client, "parse", content=text, language=language)
        assert answer.status_code == 200, answer.text
        parse = from_dict(answer.json())
        assert parse.document.language == "zh"
        assert parse.edus == ["如果明天天晴，", "我就拿它去修一修。"]
