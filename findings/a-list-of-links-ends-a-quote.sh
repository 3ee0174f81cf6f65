#!/bin/sh
# 2026-11-29. html2text 2025.4.15 (PyPI) and turndown 7.2.5 (npm) on a reply: an order, and a quote of two paragraphs
# with a link each, which both programs can list instead of writing links into the text.
# Guess:  the links of a quote are listed inside the quote, or below everything; each quoted paragraph keeps its `>`.
# Truth:  the list never has a `>`, although it is the quote's. Below everything (the default of both) it follows the
#         writer's last words like words of theirs. With html2text's links_each_paragraph it follows its paragraph, and
#         with it the quote is over: the second paragraph stands without `>`, as if the writer had said it. Without a
#         link in the first paragraph both are quoted.
# Source: CommonMark 0.31.2 section 5.1: a blockquote is the lines after its markers; section 4.7: a reference may be
#         defined inside one.
# Needs:  python3 with pip, npm. node 20 comes from npm. No fogpost, no root. About 15 s.
set -eu
t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore HOME="$t" PYTHONPATH="$t/py"
python3 -m pip install -q --target "$t/py" --no-deps html2text==2025.4.15
cd "$t"
npm install --silent --no-audit --no-fund --prefix "$t" turndown@7.2.5 node@20.19.5 >/dev/null

cat >reply.html <<'E'
<p>HOLD</p><p>The club wrote:</p><blockquote><p>Turn 3 is open on <a href="https://club.example/3">the
board</a>.</p><p><a href="https://club.example/rules">The rules</a> say more.</p></blockquote><p>See you</p>
E
sed 's/<a href="[^"]*">the$/the/; s/^board<.a>/board/' reply.html >one-link.html
cat >read.py <<'E'
import html2text
for name in "reply", "one-link":
    for each in False, True:
        reader = html2text.HTML2Text(bodywidth=0)
        reader.inline_links, reader.links_each_paragraph = False, each
        print(f"-- html2text, {name}.html,", "a list for each paragraph" if each else "one list")
        print("\n".join(line.rstrip() for line in reader.handle(open(name + ".html").read()).splitlines() if line.strip()))
E
cat >read.js <<'E'
const Turndown = require('turndown'), html = require('fs').readFileSync('reply.html', 'utf8');
console.log('-- turndown, reply.html, one list');
console.log(new Turndown({ linkStyle: 'referenced' }).turndown(html).split('\n').filter(line => line.trim()).join('\n'));
E
cat >expected <<'E'
-- html2text, reply.html, one list
HOLD
The club wrote:
> Turn 3 is open on [the board][1].
>
> [The rules][2] say more.
See you
   [1]: https://club.example/3
   [2]: https://club.example/rules
-- html2text, reply.html, a list for each paragraph
HOLD
The club wrote:
> Turn 3 is open on [the board][1].
>
>    [1]: https://club.example/3
[The rules][2] say more.
   [2]: https://club.example/rules
See you
-- html2text, one-link.html, one list
HOLD
The club wrote:
> Turn 3 is open on the board.
>
> [The rules][1] say more.
See you
   [1]: https://club.example/rules
-- html2text, one-link.html, a list for each paragraph
HOLD
The club wrote:
> Turn 3 is open on the board.
>
> [The rules][1] say more.
   [1]: https://club.example/rules
See you
-- turndown, reply.html, one list
HOLD
The club wrote:
> Turn 3 is open on [the board][1].
>
> [The rules][2] say more.
See you
[1]: https://club.example/3
[2]: https://club.example/rules
E
python3 read.py >seen
node_modules/.bin/node read.js | sed 's/ *$//' >>seen
cat seen
diff expected seen >/dev/null || { echo "CHANGED: expected"; cat expected; exit 1; }
