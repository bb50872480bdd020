/** The web page of the fakes: one file, without anything from elsewhere. */
export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postreel fakes</title>
<style>
  :root { color-scheme: light dark; --line: #8884; --accent: #2563eb; }
  * { box-sizing: border-box; }
  body { margin: 0; font: 14px/1.45 system-ui, sans-serif; }
  header { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; padding: 12px 20px; border-bottom: 1px solid var(--line); }
  h1 { font-size: 16px; margin: 0; }
  form { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
  button, select, input { font: inherit; padding: 3px 8px; }
  nav { display: flex; flex-wrap: wrap; gap: 4px; padding: 10px 20px 0; }
  nav button { border: 1px solid transparent; background: none; border-radius: 6px; cursor: pointer; }
  nav button[aria-selected=true] { border-color: var(--accent); color: var(--accent); }
  main { padding: 10px 20px 30px; overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; max-width: 420px; overflow-wrap: anywhere; }
  tr[data-opens] { cursor: pointer; }
  .empty, .note { color: GrayText; }
  .bad { color: #dc2626; }
  dialog { width: min(760px, 92vw); }
  iframe { width: 100%; height: 50vh; border: 1px solid var(--line); background: #fff; }
</style>
<header>
  <h1>Postreel fakes</h1>
  <form id="clock">
    <span>Clock: <time id="now"></time></span>
    <button name="by" value="1m">+1 min</button><button name="by" value="1h">+1 h</button><button name="by" value="1d">+1 day</button>
  </form>
  <form id="fault">
    <label>Next <select id="endpoint" aria-label="Endpoint"></select></label>
    <select id="kind" aria-label="Fault"></select>
    <button>Make it fail</button>
    <button type="button" id="clear">Clear faults</button>
  </form>
  <span id="note" class="note" role="status"></span>
</header>
<nav role="tablist"></nav>
<main></main>
<dialog><form method="dialog"><button>Close</button></form><p id="facts"></p><iframe sandbox="" title="Email"></iframe></dialog>
<script>
  const $ = (selector) => document.querySelector(selector);
  const time = (value) => new Date(value).toISOString().slice(0, 19).replace('T', ' ');
  const json = (value) => value === undefined || value === null ? '' : JSON.stringify(value);
  const views = {
    requests: { At: (r) => time(r.at), Service: (r) => r.service, Request: (r) => r.method + ' ' + r.path, Status: (r) => r.status ?? 'no answer', Body: (r) => json(r.body) },
    outbox: { Sent: (r) => time(r.sentAt), From: (r) => r.from, To: (r) => r.to, Subject: (r) => r.subject, Source: (r) => r.source },
    contacts: { Email: (r) => r.email, Subscribed: (r) => r.subscribed ? 'yes' : 'no', Data: (r) => json(r.data), Id: (r) => r.id },
    events: { At: (r) => time(r.createdAt), Event: (r) => r.name, Contact: (r) => r.email ?? r.contactId, Data: (r) => json(r.data) },
    campaigns: { Name: (r) => r.name, Status: (r) => r.status, Subject: (r) => r.subject, Audience: (r) => r.audienceType, Id: (r) => r.id },
    jobs: { Accepted: (r) => time(r.acceptedAt), Kind: (r) => r.kind, Name: (r) => r.name, Status: (r) => r.status, Id: (r) => r.fileId },
  };
  const faults = {
    'with 500': { status: 500 }, 'with 429': { status: 429, retryAfter: 2 }, 'with 401': { status: 401 }, 'with 422': { status: 422 },
    'by a closed connection': { drop: true }, 'by losing the answer': { loseAnswer: true }, 'by half an answer': { truncate: true },
    'by an HTML page': { html: true }, 'by 3 s delay': { slow: 3000 },
  };
  let tab = location.hash.slice(1) in views ? location.hash.slice(1) : 'requests';
  let state;
  let shown = '';

  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  function draw() {
    $('#now').textContent = time(state.now);
    const rows = state[tab];
    const text = tab + JSON.stringify([rows, Object.keys(views).map((name) => state[name].length)]);
    if (text === shown) return;
    shown = text;
    $('nav').replaceChildren(...Object.keys(views).map((name) => {
      const label = name[0].toUpperCase() + name.slice(1) + ' (' + state[name].length + ')';
      const button = make('button', label, { role: 'tab', 'aria-selected': name === tab, id: 'tab-' + name });
      button.onclick = () => { tab = name; location.hash = name; draw(); };
      return button;
    }));
    if (rows.length === 0) return $('main').replaceChildren(make('p', 'Nothing yet.', { class: 'empty' }));
    const table = make('table');
    const head = table.createTHead().insertRow();
    for (const heading of Object.keys(views[tab])) head.append(make('th', heading));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const [heading, read] of Object.entries(views[tab])) {
        const isBad = heading === 'Status' && (row.status === undefined || row.status >= 400 || row.status === 'error');
        line.append(make('td', String(read(row)), isBad ? { class: 'bad' } : {}));
      }
      if (tab === 'outbox') { line.dataset.opens = ''; line.onclick = () => open(row); }
    }
    $('main').replaceChildren(table);
  }

  function open(email) {
    $('#facts').textContent = email.subject + ' (from ' + email.from + ' to ' + email.to + ')';
    $('iframe').srcdoc = email.body;
    $('dialog').showModal();
  }

  async function post(path, body) {
    const response = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const { error } = await response.json();
    await refresh();
    return error;
  }

  async function refresh() {
    try {
      state = await (await fetch('/state')).json();
      if ($('#note').textContent === 'The fakes have stopped.') $('#note').textContent = '';
    } catch {
      $('#note').textContent = 'The fakes have stopped.';
      return;
    }
    if ($('#endpoint').length === 0) fillFaults();
    draw();
  }

  function fillFaults() {
    for (const [service, endpoints] of Object.entries(state.endpoints)) {
      const group = make('optgroup', undefined, { label: service });
      for (const endpoint of ['*', ...endpoints]) {
        group.append(make('option', endpoint === '*' ? 'any request to ' + service : endpoint, { value: service + ' ' + endpoint }));
      }
      $('#endpoint').append(group);
    }
    for (const name of Object.keys(faults)) $('#kind').append(make('option', name));
  }

  $('#clock').onsubmit = (event) => {
    event.preventDefault();
    void post('/clock', { duration: event.submitter.value });
  };
  $('#fault').onsubmit = async (event) => {
    event.preventDefault();
    const [service, ...endpoint] = $('#endpoint').value.split(' ');
    const error = await post('/faults', { service, endpoint: endpoint.join(' '), fault: faults[$('#kind').value] });
    $('#note').textContent = error ?? 'The next ' + endpoint.join(' ').replace('*', 'request') + ' fails ' + $('#kind').value + '.';
  };
  $('#clear').onclick = async () => {
    await post('/faults/clear', {});
    $('#note').textContent = 'No faults.';
  };
  void refresh();
  setInterval(refresh, 1000);
</script>
`;
