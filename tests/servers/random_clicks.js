// Composes a letter by random clicks on the page that it stands in until the page calls it whole, and tells the surrounding
// page. SEED makes the clicks repeatable.
addEventListener('load', function compose() {
  // The page reads its link first.
  if (document.querySelector('#desk').hidden) return setTimeout(compose, 50);
  let seed = Number(new URLSearchParams(location.search).get('seed'));
  const below = n => Math.floor((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648 * n);
  const all = what => [...document.querySelectorAll(what)], one = what => document.querySelector(what);
  const isWhole = () => all('#lines li').length > 0 && !one('#mail').classList.contains('wait');
  const byTaps = () => {
    for (let may; (may = all('[data-cell].may, [data-cell].to')).length && below(5);) may[below(may.length)].click();
  };
  const byForm = () => {
    // A choice renews the fields behind it.
    for (let n = 0; n < all('#fields select').length; n++) {
      const select = all('#fields select')[n], options = [...select.options].filter(option => option.value);
      if (!options.length) break;
      select.value = options[below(options.length)].value;
      select.dispatchEvent(new Event('change'));
    }
    for (let chips; (chips = all('#fields .chip')).length && below(3);) chips[below(chips.length)].click();
    one('#fields > button')?.click();
  };
  for (let tries = 0; tries < 500 && !(isWhole() && below(4) === 0); tries++) {
    // A line may need what another one takes away.
    if (tries % 40 === 39) one('#clear').click();
    const kinds = all('#kinds label');
    if (kinds.length) kinds[below(kinds.length)].click();
    (below(2) ? byTaps : byForm)();
  }
  parent.postMessage([name, { whole: isWhole(), letter: one('#text').textContent.replaceAll('\n', '|'), sub: one('#turn').textContent }], '*');
});
