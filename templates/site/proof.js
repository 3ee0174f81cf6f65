// Checks letters against the ledger of this match. Everything is computed on this page, and nothing leaves it.
(function (page) {
  const place = page.getElementById('proof'), { match, head } = place.dataset;
  place.innerHTML = `<h2>Your letters prove it</h2>
    <p class="text">Drop letters here that the referee sent you about this match, as your mail program saves them (.eml).
    This page computes the ledger’s chain of hashes and tells whether your letters are on it. Nothing leaves the page.</p>
    <p><label>Letters <input type="file" multiple accept=".eml,.txt,message/rfc822"></label></p>
    <ul aria-live="polite"></ul>
    <p class="text soft"><small>It checks <a href="chain.js">what was hashed</a> as far as that is public. The whole ledger
    is in the dossier, which the club gives to players; its <code>check.py</code> checks everything.</small></p>`;
  const list = place.querySelector('ul'), input = place.querySelector('input');
  const LEDGER = /Ledger[\s>|]+([A-Z]+-[0-9A-Z-]+)[\s>|]+sha256[\s>|]*(?:<[^>]*>[\s>|]*)*([0-9a-f]{64})/g;
  const SEALED = /sealed orders with their salt:[\s>|]*(?:<[^>]*>[\s>|]*)*([0-9a-f]{64})/g;
  const MOST_BYTES = 32 << 20, MOST_TOLD = 5;

  function say(text, isWrong) {
    const item = page.createElement('li');
    item.textContent = (isWrong ? '✗ ' : '✓ ') + text;
    item.className = isWrong ? 'wrong' : '';
    list.append(item);
  }

  async function sha256(text) {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('');
  }

  // The entries of the ledger: the text of each, or only its hash if the text is not public.
  let loading;
  function ledger() {
    return loading ||= new Promise((done, failed) => {
      const script = page.createElement('script');
      script.src = 'chain.js';
      const fail = () => failed(new Error('The file chain.js beside this page cannot be read.'));
      script.onload = () => Array.isArray(window.ledgerChain) ? done(window.ledgerChain) : fail();
      script.onerror = fail;
      page.head.append(script);
    });
  }

  // Walks the chain. Returns the number of each entry by its hash, the filings by their digests, and the faults.
  async function walk(items) {
    const found = { entries: new Map(), filings: new Map(), shown: 0, faults: [] }, filed = {};
    let previous = '0'.repeat(64);
    for (const [at, item] of items.entries()) {
      const isShown = item.startsWith('{'), hash = isShown ? await sha256(item) : item;
      if (isShown) {
        const entry = JSON.parse(item);
        found.shown++;
        if (entry.prev !== previous || entry.seq !== at + 1 || entry.match !== match) {
          found.faults.push(`Entry ${at + 1} does not follow the one before it.`);
        }
        await weigh(entry, filed, found);
      }
      found.entries.set(hash, at + 1);
      previous = hash;
    }
    if (previous !== head) found.faults.push('The chain does not end with the head that this page names.');
    return found;
  }

  // Sealed orders must match their digest, and a turn must be decided on the orders that were sealed last.
  async function weigh({ kind, body, salt, seq }, filed, found) {
    if (body.sealed) {
      const lines = body.orders || body.conditions;
      if (await sha256([salt, ...lines].map(line => line + '\n').join('')) !== body.sealed) {
        found.faults.push(`Entry ${seq}: these are not the orders that were sealed.`);
      }
      found.filings.set(body.sealed, { ...body, lines });
    }
    if (kind === 'OrdersSealed') filed[body.seat] = body;
    if (kind === 'OrdersWithdrawn') delete filed[body.seat];
    if (kind !== 'TurnAdjudicated') return;
    for (const [seat, orders] of Object.entries(body.filings)) {
      const own = filed[seat];
      if (!orders || !own || own.turn !== body.turn || own.phase !== body.phase) continue;
      if (own.orders.join('\n') !== orders.join('\n')) {
        found.faults.push(`Entry ${seq}: the turn was not decided on the orders that were sealed last.`);
      }
    }
  }

  // The text of a letter, with its transfer encodings undone: everything that is said is ASCII.
  function textOf(raw) {
    const plain = raw.replace(/=\r?\n/g, '').replace(/=([0-7][0-9A-F])/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    const blocks = raw.match(/^(?:[A-Za-z0-9+/]{60,76}\r?\n)+[A-Za-z0-9+/]*={0,2}/gm) || [];
    const decoded = blocks.map(block => {
      try { return atob(block.replace(/\s/g, '').replace(/=+$/, '')); } catch { return ''; }
    });
    return [raw, plain, ...decoded].join('\n\n');
  }

  function checkLetter(name, text, chain) {
    const heads = [...text.matchAll(LEDGER)].filter(found => found[1] === match).map(found => found[2]);
    if (!heads.length) return say(`${name}: it has no ledger line of ${match}.`, true);
    if (heads.some(hash => !chain.entries.has(hash))) {
      return say(`${name}: its ledger line is not on this chain: the ledger was rewritten, or the letter was.`, true);
    }
    const to = Math.max(...heads.map(hash => chain.entries.get(hash)));
    const sealed = new Set(Array.from(text.matchAll(SEALED), found => found[1]));
    const filings = Array.from(sealed, digest => chain.filings.get(digest));
    if (filings.includes(undefined)) {
      return say(`${name}: the ledger has no orders with the digest in this letter.`, true);
    }
    const orders = filings.map(({ turn, lines }) => ` The orders sealed for turn ${turn} are “${lines.join('; ')}”.`);
    say(`${name}: entries 1 to ${to} are what they were when this letter was sent.${orders.join('')}`);
  }

  async function check(files) {
    list.replaceChildren();
    try {
      const items = await ledger(), chain = await walk(items);
      if (chain.faults.length) {
        chain.faults.slice(0, MOST_TOLD).forEach(fault => say(fault, true));
        return say('The chain is broken, so that letters cannot prove it.', true);
      }
      say(`${chain.shown} of ${items.length} entries are public, and each follows the one before it, up to the head on this ` +
        `page; ${chain.filings.size} sealed filings match their digests.`);
      for (const file of files) {
        if (file.size > MOST_BYTES) say(`${file.name}: it is too large for a letter.`, true);
        else checkLetter(file.name, textOf(await file.text()), chain);
      }
    } catch (error) {
      say(error.message, true);
    }
  }

  if (!window.isSecureContext) {
    input.disabled = true;
    return say('Your browser computes hashes only on pages that come by https. Use check.py of the dossier here.', true);
  }
  input.onchange = () => check(input.files);
  place.ondragover = event => event.preventDefault();
  place.ondrop = event => {
    event.preventDefault();
    check(event.dataTransfer.files);
  };
})(document);
