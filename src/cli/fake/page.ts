/** The web page of the fakes: one file that loads nothing from other hosts. */
export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postreel fakes</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; --line: #8884; --accent: light-dark(#1d4ed8, #93c5fd); --bad: light-dark(#b91c1c, #fca5a5); --soft: light-dark(#52525b, #b4b4bc); }
  * { box-sizing: border-box; }
  html { background: light-dark(#fff, #18181b); color: light-dark(#18181b, #f4f4f5); }
  body { margin: 0; font: 14px/1.45 system-ui, sans-serif; }
  header { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; padding: 12px 20px; border-bottom: 1px solid var(--line); }
  h1 { font-size: 16px; margin: 0; }
  form { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; max-width: 100%; }
  label { display: flex; gap: 6px; align-items: center; min-width: 0; max-width: 100%; }
  select { min-width: 0; }
  button, select, input { font: inherit; padding: 3px 8px; max-width: 100%; }
  nav { display: flex; flex-wrap: wrap; gap: 8px; justify-content: space-between; padding: 10px 20px 0; }
  [role=tablist] { display: flex; flex-wrap: wrap; gap: 4px; }
  [role=tab] { border: 1px solid transparent; background: none; border-radius: 6px; cursor: pointer; color: inherit; }
  [role=tab][aria-selected=true] { border-color: var(--accent); color: var(--accent); }
  main { padding: 10px 20px 30px; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; max-width: 420px; overflow-wrap: break-word; }
  td:is([data-heading=Body], [data-heading=Answer], [data-heading=Data]) { overflow-wrap: anywhere; }
  td > span { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
  td > a { color: var(--accent); }
  td > button { border: 0; padding: 0; background: none; color: var(--accent); text-align: left; text-decoration: underline; cursor: pointer; overflow-wrap: anywhere; }
  .empty, .note { color: var(--soft); }
  .bad { color: var(--bad); }
  dialog { width: min(760px, 92vw); }
  dialog h2 { font-size: 14px; margin: 12px 0 4px; overflow-wrap: anywhere; }
  pre { margin: 0; padding: 8px; border: 1px solid var(--line); max-height: 32vh; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
  iframe { width: 100%; height: 50vh; border: 1px solid var(--line); background: #fff; }
  @media (max-width: 640px) {
    header, nav, main { padding-left: 12px; padding-right: 12px; }
    thead { display: none; }
    tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); }
    td { display: grid; grid-template-columns: 84px minmax(0, 1fr); border: 0; padding: 1px 0; max-width: none; overflow-wrap: anywhere; }
    td::before { content: attr(data-heading); color: var(--soft); }
    td:not(:has(> button)):has(> span:empty) { display: none; }
  }
</style>
<header>
  <h1>Postreel fakes</h1>
  <form id="clock">
    <span>Clock: <time id="now"></time> <span id="ahead" class="note"></span></span>
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
<nav aria-label="Tables"><div role="tablist"></div><input type="search" id="filter" aria-label="Filter" placeholder="Filter"></nav>
<main></main>
<dialog aria-labelledby="facts"><form method="dialog"><button>Close</button></form><h2 id="facts"></h2><div id="content"></div></dialog>
<script>
  const $ = (selector) => document.querySelector(selector);
  const time = (value) => new Date(value).toISOString().slice(0, 19).replace('T', ' ');
  const json = (value) => value === undefined || value === null ? '' : JSON.stringify(value);
  const views = {
    requests: { At: (r) => time(r.at), Service: (r) => r.service, Request: (r) => r.method + ' ' + r.path, Status: (r) => r.status ?? 'no answer', Body: (r) => json(r.body), Answer: (r) => r.answer ?? '' },
    outbox: { Sent: (r) => time(r.sentAt), From: (r) => r.from, To: (r) => r.to, Subject: (r) => r.subject, Source: (r) => r.source },
    contacts: { Email: (r) => r.email, Subscribed: (r) => r.subscribed ? 'yes' : 'no', Data: (r) => json(r.data), Id: (r) => r.id },
    events: { At: (r) => time(r.createdAt), Event: (r) => r.name, Contact: (r) => r.email ?? r.contactId, Data: (r) => json(r.data) },
    campaigns: { Name: (r) => r.name, Status: (r) => r.status, Subject: (r) => r.subject, Audience: (r) => r.audienceType, Id: (r) => r.id },
    executions: { Started: (r) => time(r.startedAt), Workflow: (r) => r.workflow, Contact: (r) => r.email ?? r.contactId, Status: (r) => r.status, Step: (r) => r.step ?? '', Id: (r) => r.id },
    jobs: { Accepted: (r) => time(r.acceptedAt), Kind: (r) => r.kind, Text: (r) => r.settings.prompt ?? r.settings.content ?? '', Status: (r) => r.status, File: (r) => r.download ?? '', Name: (r) => r.name, Id: (r) => r.fileId },
  };
  const faults = {
    'with 500': { status: 500 }, 'with 429': { status: 429, retryAfter: 2 }, 'with 401': { status: 401 }, 'with 422': { status: 422 },
    'by a closed connection': { drop: true }, 'by losing the answer': { loseAnswer: true }, 'by half an answer': { truncate: true },
    'by an HTML page': { html: true }, 'by 3 s delay': { slow: 3000 },
  };
  let tab = location.hash.slice(1) in views ? location.hash.slice(1) : 'requests';
  // What opens a row, and what it shows then.
  const opens = { requests: ['Request', openRequest], outbox: ['Subject', openEmail] };
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
    // When the fakes' clock is far ahead, a time that a program schedules for tomorrow is already past.
    const minutes = Math.round(state.aheadMs / 60000);
    $('#ahead').textContent = Math.abs(minutes) < 1 ? '' : 'The clock of the fakes is ' + Math.abs(minutes) + ' min ' + (minutes > 0 ? 'ahead of' : 'behind') + ' this machine.';
    const { rows, counts, found } = state;
    const text = tab + found + JSON.stringify([rows, counts]);
    if (text === shown) return;
    shown = text;
    $('[role=tablist]').replaceChildren(...Object.keys(views).map((name) => {
      const label = name[0].toUpperCase() + name.slice(1) + ' (' + counts[name] + ')';
      const button = make('button', label, { role: 'tab', 'aria-selected': name === tab, id: 'tab-' + name });
      button.onclick = () => { tab = name; location.hash = name; void refresh(); };
      return button;
    }));
    const nothing = counts[tab] === 0 ? 'Nothing yet.' : 'Nothing with this text.';
    const part = found > rows.length ? [make('p', 'The newest ' + rows.length + ' of ' + found + '.', { class: 'note' })] : [];
    $('main').replaceChildren(...part, rows.length === 0 ? make('p', nothing, { class: 'empty' }) : tableOf(rows));
  }

  function tableOf(rows) {
    const table = make('table');
    const head = table.createTHead().insertRow();
    for (const heading of Object.keys(views[tab])) head.append(make('th', heading));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const [heading, read] of Object.entries(views[tab])) {
        const isBad = heading === 'Status' && (row.status === undefined || row.status >= 400 || row.status === 'error');
        const cell = make('td', undefined, { 'data-heading': heading, ...(isBad ? { class: 'bad' } : {}) });
        const [opener, open] = opens[tab] ?? [];
        const text = String(read(row));
        const isLink = heading === 'File' && text !== '';
        const content = isLink
          ? make('a', 'Open', { href: text, target: '_blank', rel: 'noreferrer' })
          : make(heading === opener ? 'button' : 'span', text);
        if (heading === opener) content.onclick = () => open(row);
        cell.append(content);
        line.append(cell);
      }
    }
    return table;
  }

  function openEmail(email) {
    const frame = make('iframe', undefined, { sandbox: '', title: 'Email' });
    frame.srcdoc = email.body;
    const { replyTo, headers, attachments, variables } = email;
    const facts = { 'Reply to': replyTo, Headers: filled(headers), Attachments: attachments.map(nameOf).join(', '), Variables: filled(variables) };
    const parts = Object.entries(facts).filter(([, value]) => value);
    show(email.subject + ' (from ' + email.from + ' to ' + email.to + ')', [
      frame, ...parts.flatMap(([name, value]) => [make('h2', name), make('pre', pretty(value), { tabindex: 0 })]),
    ]);
  }

  const filled = (record) => Object.keys(record).length > 0 ? json(record) : '';
  const nameOf = ({ filename, contentType, content }) =>
    (filename ?? 'without a name') + ' (' + (contentType ?? 'no type') + ', ' + Math.floor((String(content ?? '').length * 3) / 4) + ' bytes)';

  function openRequest({ method, path, status, body, answer }) {
    show(method + ' ' + path + ': ' + (status ?? 'no answer'), [
      make('h2', 'Body'), make('pre', pretty(json(body)) || 'none', { tabindex: 0 }),
      make('h2', 'Answer'), make('pre', pretty(answer) || 'none', { tabindex: 0 }),
    ]);
  }

  function pretty(text = '') {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  function show(title, content) {
    $('#facts').textContent = title;
    $('#content').replaceChildren(...content);
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
      const asked = tab + ' ' + $('#filter').value;
      const query = new URLSearchParams({ table: tab, filter: $('#filter').value });
      const next = await (await fetch('/state?' + query)).json();
      if (asked !== tab + ' ' + $('#filter').value) return; // another answer is on its way
      state = next;
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
  $('#filter').oninput = () => void refresh();
  $('#clear').onclick = async () => {
    await post('/faults/clear', {});
    $('#note').textContent = 'No faults.';
  };
  void refresh();
  setInterval(refresh, 1000);
</script>
`;
