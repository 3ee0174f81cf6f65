// Composes a letter by clicks on the page that it stands in, and tells the surrounding page what became of it.
addEventListener('load', () => setTimeout(async () => {
  const one = what => document.querySelector(what), words = what => one(what)?.textContent ?? '';
  const tap = cell => one(`[data-cell="${cell}"]`).click();
  const kind = label => [...document.querySelectorAll('#kinds label')].find(of => of.textContent === label).click();
  const found = { letter: 'none', sub: words('#turn'), title: words('#players'), board: document.querySelectorAll('#board *').length };
  // A mail program would open; the page has noted the click by then.
  document.addEventListener('click', event => { if (event.target.id === 'mail') event.preventDefault(); });
  const clicks = {
    'Quad, turn 13': () => { tap(59); kind('Star'); tap(79); },
    'Quadrant Z, turn 9': () => { tap(47); tap(58); kind('Build'); tap(1); kind('Capture'); tap(27); },
    'War in the Pacific, turn 4': () => {
      kind('Attack submarines');
      const select = one('#fields select');
      select.value = [...select.options].find(option => option.textContent === 'B6').value;
      select.dispatchEvent(new Event('change'));
      one('#fields button').click();
    },
  }[found.sub.split('.')[0]];
  if (clicks && !one('#desk').hidden) {
    clicks();
    found.letter = one('#mail').getAttribute('href');
    found.areas = document.querySelectorAll('#board .area').length;
    found.images = document.images.length;
    found.before = words('#note span:not([hidden])');
    one('#mail').click();
    found.after = words('#note span:not([hidden])');
    one('#own').click();
    const box = one('#lines li:last-child input');
    box.value = '# mine';
    box.dispatchEvent(new Event('change'));
    found.changed = words('#lines li:last-child small');
    found.unnamed = [...document.querySelectorAll('button, input, select')].filter(control => !control.labels?.length && !control.ariaLabel && !control.textContent).length;
    found.overflow = document.documentElement.scrollWidth - innerWidth;
  }
  parent.postMessage([name, found], '*');
}, 500));
