// Tells the surrounding page how the browser shows this one.
addEventListener('load', () => setTimeout(() => {
  const all = what => [...document.querySelectorAll(what)];
  const shown = all('.step').filter(step => getComputedStyle(step).display !== 'none');
  const isOpen = (name, group) => group.getAttribute('class') === name && getComputedStyle(group).display !== 'none';
  const drawn = shown.length ? [...shown[0].querySelectorAll('svg:first-of-type g')] : [];
  const found = {
    overflow: document.documentElement.scrollWidth - innerWidth,
    shown: shown.map(step => step.id).join(' '),
    levels: all('h1, h2, h3').map(heading => heading.tagName[1]).join(''),
    unnamed: all('[role=img]:not([aria-label], [aria-labelledby]), img:not([alt]), main input:not([id])').length,
    twice: all('[id]').length - new Set(all('[id]').map(element => element.id)).size,
    play: all('.go button').length,
    views: ['f', 's', 't'].map(name => drawn.some(group => isOpen(name, group)) ? name : '-').join(''),
    // The copy of a board shows the view that its properties name; its parts cannot be asked.
    copies: shown.flatMap(step => [...step.querySelectorAll('svg.b')]).filter(copy => getComputedStyle(copy).display !== 'none')
      .map(copy => ['f', 's', 't'].map(name => getComputedStyle(copy).getPropertyValue('--' + name) === 'inline' ? name : '-').join(''))
      .join(' '),
    told: ['f', 's'].map(name => shown.flatMap(step => [...step.querySelectorAll(`.say > .${name}, .say > .${name}t`)])
      .some(part => getComputedStyle(part).display !== 'none') ? name : '-').join(''),
  };

  // Copies take the place of the symbols' uses, whose parts cannot be found by a point.
  const isShown = element => element.getClientRects().length > 0;
  const copyUses = root => root.querySelectorAll('use').forEach(use => {
    const copy = document.createElementNS(use.namespaceURI, 'g');
    for (const {name, value} of use.attributes) copy.setAttribute(name, value);
    const [x, y] = ['x', 'y'].map(name => use.getAttribute(name) || 0);
    copy.setAttribute('transform', `${use.getAttribute('transform') || ''} translate(${x} ${y})`);
    copy.append(document.getElementById(use.getAttribute('href').slice(1)).cloneNode(true));
    copyUses(copy);
    use.replaceWith(copy);
  });
  all('svg').filter(isShown).forEach(copyUses);
  const colour = of => getComputedStyle(of)[of.ownerSVGElement ? 'fill' : 'color'];
  const ground = of => {
    if (of.closest('text') || of.closest('svg') && /^(svg|g)$/.test(of.tagName)) return null;
    const {fill, backgroundColor} = getComputedStyle(of);
    const found = of.ownerSVGElement ? fill : backgroundColor;
    return found.startsWith('rgb(') ? found : null;
  };
  // The contrast of two colours as WCAG 2 defines it.
  const luminance = colour => {
    const linear = part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
    const [red, green, blue] = colour.match(/\d+/g).map(part => linear(part / 255));
    return .2126 * red + .7152 * green + .0722 * blue + .05;
  };
  const contrast = (one, other) => {
    const [a, b] = [luminance(one), luminance(other)];
    return Math.max(a, b) / Math.min(a, b);
  };
  const faint = new Set();
  found.words = 0;
  for (const element of all('body *')) {
    const text = [...element.childNodes].find(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!text || !isShown(element) || element.closest('script, style, title')) continue;
    element.scrollIntoView({block: 'nearest'});
    const words = document.createRange();
    words.selectNodeContents(text);
    const {x, y, width, height} = element.ownerSVGElement ? element.getBoundingClientRect() : words.getClientRects()[0];
    const grounds = document.elementsFromPoint(x + width / 2, y + height / 2).map(ground).filter(found => found);
    // A link that only the keyboard shows stands outside of the page.
    if (!grounds.length) continue;
    found.words += 1;
    const ratio = contrast(colour(element), grounds[0]);
    if (ratio < 4.5) faint.add(`${text.data.trim()}: ${ratio.toFixed(1)}`);
  }
  found.faint = [...faint].join(', ');
  parent.postMessage([name, found], '*');
}, 50));
