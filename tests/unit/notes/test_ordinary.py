"""Ordinary words as triggers: where they stand for code, and where for themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.correction import match_triggers
from chitta.notes.ordinary import begins, is_code, is_name, ordinary

CODE = {
    "requests": """add the requests library
        import requests and call ecb
        use requests to fetch the rates
        requests.get fails here
        pip install requests
        pip3 install -U pandas requests
        put requests==2.31 into it
        add requests to requirements.txt
        write the client with requests
        get them via requests
        replace httpx with requests
        use the requests session
        from requests import get
        `requests` again""",
    "print": """add a print statement
        print(x) in the handler
        replace the print calls
        debug it with print
        add a print before the return
        add a print in main.py""",
    "puts": """add a puts in Order#pay
        add a puts in the refund job
        insert puts result.inspect before the raise
        puts order.inspect in Order#pay
        debug with puts
        log it with puts
        add a quick puts to the worker""",
    "date": "add a date in Order#pay\nadd a date in Order::Total",
    "click": """write the cli with click
        @click.command() for main
        switch the cli to click
        click.echo is enough""",
    "black": """run black on it
        format it with black
        black -l 100 src
        black . and commit""",
    "make": "run make test\nsudo true && make all\nbuild it with make",
    "master": "push it to master\ngit checkout master\nopen a pr against master\nthe master branch",
    "moment": "import moment from 'moment'\nconst m = require('moment')\nnpm i moment@2.29\nuse moment.js for dates",
    "var": "var x = 1\ndeclare it with var\nchange the var declarations",
    "assert": "assert x == 1 there\nadd an assert in parse()",
    "fetch": "fetch('/api/x') in the page\nuse the fetch api\ncall fetch in the hook",
    "logging": "import logging\nlogging.info(x)\nuse logging for it",
    "time": "time.sleep(2) before the click\nimport time",
    "yarn": "yarn add lodash\nyarn install",
    "tabs": "use tabs\nindent it with tabs",
}
PROSE = {
    "requests": """review the pull requests that are open
        close stale merge requests
        how many requests per second does the api handle
        rate limit the requests to 100
        log all incoming requests
        it gets 500 requests a minute
        two requests per click
        handle concurrent requests with a lock
        deal with requests from browsers
        the server is flooded with requests
        add requests per minute to the chart
        import requests from the csv file
        requests time out after 30 s
        use requests per second as the metric""",
    "print": """print the report to pdf
        print me the list of endpoints
        print preview button is broken
        print stylesheet
        print the invoice on paper layout
        add a print button
        edit print.css
        use the print stylesheet""",
    "puts": """the page puts user.name in the title
        the job puts order.id into the queue
        it puts everything in the job
        puts config.yml in the folder""",
    "settings": "add a settings page\nadd the settings in the header",
    "status": "add a status in the header\nadd a status to the order",
    "series": "add a series to the chart",
    "click": "when i click the button\nadd a click handler\ntrack it with click events\nclick on save twice",
    "black": "make the background black\nuse black text on white\nadd a black border",
    "make": "make the tests pass\nmake sure it works\ndoes this make sense",
    "master": "the master password is wrong\nadd a master volume slider\nuse master data from sap",
    "moment": """blank for a moment after login
        wait a moment before retry
        add a moment of delay
        the moment library of photos is empty
        Import moment: when the file arrives set imported_at
        call moment.js docs in the readme obsolete""",
    "var": "the env var is missing\nset the env var FOO\nread it from an env var",
    "assert": "the tests assert that it is 3\nmake it assert the order",
    "fetch": "fetch the rates from ecb\ngit fetch and rebase\nthe fetch is slow",
    "logging": "logging in fails\nadd logging to the worker\nfix logging of errors",
    "time": "the time zone is wrong\nlog the time of each request\nrun it one more time",
    "date": "add the date to the invoice\nadd a date in the header\nshow date, time and user",
    "image": "add an image in the header\nuse an image",
    "tabs": "the tabs are broken\nadd two tabs to the page",
}


def cases(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(word, line.strip()) for word, lines in table.items() for line in lines.split("\n")]


@pytest.mark.parametrize(("word", "prompt"), cases(CODE))
def test_a_word_that_stands_for_code_fires(word: str, prompt: str) -> None:
    assert match_triggers(prompt, (word,)) == word


@pytest.mark.parametrize(("word", "prompt"), cases(PROSE))
def test_a_word_that_stands_for_itself_is_quiet(word: str, prompt: str) -> None:
    assert match_triggers(prompt, (word,)) is None


@pytest.mark.parametrize(
    ("trigger", "word"),
    [
        ("print", "print"),
        ("the `requests`", "requests"),
        ("Black", "black"),
        ("npm", ""),  # no vowel
        ("useState", ""),
        ("TODO", ""),
        ("python2", ""),
        ("moment()", ""),
        ("!important", ""),
        ("db:seed", ""),
        ("vendor/", ""),
        ("npm install", ""),
        ("été", ""),  # no word of code
        ("", ""),
    ],
)
def test_a_single_word_of_letters_is_ordinary_unless_its_form_is_unmistakable(trigger: str, word: str) -> None:
    assert ordinary(trigger) == word


def test_a_form_that_is_unmistakable_fires_anywhere() -> None:
    assert match_triggers("the npm cache is cold", ("npm",)) == "npm"
    assert match_triggers("the usestate hook", ("useState",)) == "useState"


def test_a_name_with_a_capital_in_trigger_and_prompt_is_no_ordinary_word() -> None:
    assert match_triggers("put it into the Redux store", ("Redux",)) == "Redux"
    assert match_triggers("Black screen after login", ("Black",)) is None
    assert not is_name("redux", "the Redux store")


def test_the_whole_prompt_may_be_the_word() -> None:
    assert match_triggers("print", ("print",)) == "print"
    assert match_triggers("columns:\n- date\n- print", ("print",)) is None


def test_code_that_begins_with_the_word_is_a_mention() -> None:
    assert all(begins(token, "click") for token in ("click", "click(", "click.echo", "@click.group", "click@8"))
    assert not any(begins(token, "click") for token in ("clicks", "click-through", "onclick", "double.click", ""))


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 20))
def test_any_place_in_any_text_has_an_answer(text: str, start: int, length: int) -> None:
    assert is_code(text, start, start + length) in (True, False)
    assert ordinary(text) == "" or ordinary(text).isalpha()
