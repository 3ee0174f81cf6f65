// Arrow keys, Home, End, Play; the switch in the link. The page works without it.
(function (page) {
  const steps = [...page.querySelectorAll('.step')], links = [...page.querySelectorAll('.strip a')];
  const switches = [...page.querySelectorAll('[name=view]')], heard = page.getElementById('heard');
  const play = page.createElement('button');
  let timer = 0;

  function current() {
    return Math.max(0, steps.findIndex(step => '#' + step.id === location.hash));
  }

  // history.replaceState does not move :target; replace() does, and leaves no entry in the history.
  function go(to, rel) {
    const step = steps[Math.max(0, Math.min(steps.length - 1, to))], top = scrollY;
    const held = page.activeElement === play;
    location.replace('#' + step.id);
    scrollTo(0, top);
    show();
    const next = held ? play : rel && (step.querySelector('[rel=' + rel + ']') || step.querySelector('.go a'));
    if (next) next.focus({ preventScroll: true });
  }

  function show() {
    const at = current();
    links.forEach((link, no) => link.ariaCurrent = no === at ? 'step' : null);
    steps[at].querySelector('.go').append(play);
    if (!timer) heard.textContent = steps[at].querySelector('h2').textContent;
    if (at === steps.length - 1) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = play.dataset.play;
  }

  play.type = 'button';
  [play.dataset.play, play.dataset.pause] = heard.dataset.play.split('|');
  play.onclick = () => {
    if (timer) return stop();
    if (current() === steps.length - 1) go(0);
    timer = setInterval(() => go(current() + 1), 1400);
    play.textContent = play.dataset.pause;
  };
  addEventListener('hashchange', show);
  page.addEventListener('click', event => {
    const link = event.target.closest('.go a, .strip a');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    stop();
    go(steps.findIndex(step => '#' + step.id === link.hash), link.rel);
  });
  page.addEventListener('keydown', event => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key[0] === 'A' && /INPUT|PRE/.test(event.target.tagName)) return;
    const at = current(), to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: steps.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    stop();
    go(to, page.activeElement.rel);
  });

  // The switch: as the link says, else as it was left last.
  let as = new URLSearchParams(location.search).get('as');
  try { as = as || localStorage.getItem('as'); } catch {}
  for (const box of switches) {
    if (box.value === as) box.checked = true;
    box.labels[0].onclick = () => setTimeout(() => box.blur());
    box.onchange = () => {
      try { localStorage.setItem('as', box.value); } catch {}
      try { history.replaceState(null, '', '?as=' + box.value + location.hash); } catch {}
    };
  }
  stop();
  show();
})(document);
