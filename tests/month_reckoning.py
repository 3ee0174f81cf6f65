"""The reckoning of a simulated month, from outside: by the mailboxes, the database and the commands."""

import collections
import re


def check_letters(month):
    """Every letter has one row beside those of its copies, and one answer."""
    rows = collections.defaultdict(list)
    sql = "SELECT message_id, status, regexp_replace(note, '\\s', ' ', 'g') FROM letter"
    for message_id, status, note in month.sql.ask(sql):
        rows[f"<{message_id.strip('<>')}>"].append((status, note))
    answers = collections.defaultdict(set)
    for letter in month.mail:
        answers[letter.to, letter.answers].add((letter.id, letter.subject))
    for message_id, (address, day, body, copies) in month.written.items():
        kept = sorted(rows[message_id], key=lambda row: row[0] == "repeated")
        what = f"{message_id} of day {day:.2f} ({body.splitlines()[0]!r})"
        again = month.restored[0] <= day <= month.restored[1]
        if len(kept) != copies or any(status != "repeated" for status, _ in kept[1:]):
            month.breaks(f"{what} and its {copies - 1} copies have the rows {kept}")
        elif kept[0][0] not in ("ruled", "answered"):
            month.breaks(f"{what} is {kept[0]}")
        # While the house looks for its turn, there is a receipt for now.
        found = answers[address, message_id]
        found = {answer for answer in found if not re.search(r": the house .* moves$", answer[1])} or found
        if not 1 <= len(found) <= (2 if again else 1):
            month.breaks(f"{what} has the answers {found}")


def check_mail(month):
    """What was sent has arrived, once, and what arrived was sent."""
    sent = {f"<{row[0]}>" for row in month.sql.ask("SELECT message_id FROM dispatch WHERE sent_at IS NOT NULL")}
    came = collections.Counter(letter.id for letter in month.mail)
    for message_id in sent - set(came):
        month.breaks(f"{message_id} was sent, and did not arrive")
    since = {letter.id for letter in month.mail if not month.restored[0] <= letter.day <= month.restored[1]}
    for message_id in since - sent:
        month.breaks(f"{message_id} arrived, and no dispatch knows it")
    month.twice = sum(1 for letter_id, count in came.items() if count > 1 and letter_id in since)
    if month.twice > 4 * month.kills:
        month.breaks(f"{month.twice} letters arrived twice after {month.kills} kills")


def check_matches(month):
    """No turn is adjudicated twice, and everything verifies."""
    twice = month.sql.ask("SELECT match_id, json::json->'body'->>'phase', json::json->'body'->>'turn', count(*) "
                          "FROM entry WHERE kind = 'TurnAdjudicated' GROUP BY 1, 2, 3 HAVING count(*) > 1")
    for row in twice:
        month.breaks(f"adjudicated twice: {row}")
    for arguments in (["--all"], ["--ratings"]):
        status, out = month.fogpost("audit", "verify", *arguments)
        if status:
            month.breaks(f"audit verify {arguments}: {out[-3000:]}")
    status, out = month.fogpost("status")
    if status:
        month.breaks(f"status at the end: {out}")


def check_told(month):
    """The GM has one letter about each fault, and none about others. Returns all such letters."""
    others = r"\[|The day at |Re: "
    alarms = [letter for letter in month.mail if letter.to == month.GM and not re.match(others, letter.subject)]
    for subject, since, until in month.told:
        found = [alarm.subject for alarm in alarms if since <= alarm.day <= until]
        if len(found) != 1 or not re.match(subject, found[0]):
            month.breaks(f"of the fault of day {since:.2f}, the GM reads {found}, not {subject!r}")
    if len(alarms) != len(month.told):
        month.breaks(f"the GM reads of {len(alarms)} faults, not of {len(month.told)}")
    return collections.Counter(alarm.subject for alarm in alarms)


def reckon(month):
    """Checks every promise, and prints a summary."""
    check_letters(month)
    check_mail(month)
    check_matches(month)
    alarms = check_told(month)
    matches, over, turns = month.sql.ask(
        "SELECT (SELECT count(*) FROM match), (SELECT count(*) FROM match WHERE stage = 'over'), "
        "(SELECT count(*) FROM entry WHERE kind = 'TurnAdjudicated')")[0]
    print(f"seed {month.seed}, {month.days} days: {matches} matches ({over} over), {turns} turns, "
          f"{len(month.written)} letters in and {month.copies} copies, {len(month.mail)} letters out, "
          f"{month.kills} kills, {month.twice} letters twice, {len(month.broken)} promises broken")
    print("letters to the GM:", dict(alarms))
    print("folder:", month.folder)
