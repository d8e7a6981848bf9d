"""The page in a real browser, for a campaign that counts samples in the order of asking."""

import time

from tests.browser import Watched, serious
from tests.service_process import Service

from linkarms.client import Client


def test_from_the_form_to_a_ticket_that_others_wait_for(chrome, tmp_path):
    with Service(tmp_path / "runs.db") as service, Client("lamps", service.url) as client:
        watched = Watched(chrome, service)
        page = watched.page
        page.set_default_timeout(20_000)
        page.goto(service.url)
        page.get_by_label("Name (letters").fill("lamps")
        page.get_by_label("Arms").fill("led\nneon\narc")
        page.get_by_label("A sample is").select_option("exponential")
        page.get_by_label("Samples count").select_option("asked")
        page.get_by_role("button", name="Start the campaign").click()
        page.get_by_text("samples count in the order of asking").wait_for()
        assert client.status().in_order
        assert page.locator("optgroup[label='without a ticket']").count() == 0
        client.ask(1, lease=0.01)  # nobody answers
        while not client.status().tickets["expired"]:
            time.sleep(0.01)
        client.tell_many(client.ask(2), [0.5, 7.0])
        page.get_by_text("2 samples wait until ticket 1 is told or given back: led 1, neon 1.").wait_for()
        page.get_by_text("3 of 3 arms have no sample").wait_for()
        assert serious(page) == []
        # its lease is over: it is not among the open tickets, and can be told or given back all the same
        page.get_by_label("Sample of").select_option(label="ticket 1, which others wait for")
        page.get_by_role("button", name="Give ticket 1 back").click()
        page.get_by_text("1 of 3 arms have no sample").wait_for()
        assert page.get_by_text("wait until").count() == 0
        assert client.status().tickets["released"] == 1
        watched.check()
        watched.context.close()
