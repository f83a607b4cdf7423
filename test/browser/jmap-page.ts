import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The smallest page that is a mail program: it knows where the box is, and nothing else of it. */
const PAGE = `<!doctype html>
<meta charset="utf-8"><title>Mail</title>
<form id="login"><input name="box"><input name="user"><input name="password" type="password"><button>Sign in</button></form>
<ul id="inbox"></ul>
<form id="write" hidden><input name="to"><input name="subject"><textarea name="text"></textarea><button>Send</button></form>
<p id="said"></p>
<script type="module">
const say = (text) => { document.querySelector('#said').textContent = text; };
const fill = (template, values) => template.replace(/\\{(\\w+)\\}/g, (_, name) => encodeURIComponent(values[name]));
let session, account, headers, folders, identity;

async function calls(...methodCalls) {
  const using = ['core', 'mail', 'submission'].map((name) => 'urn:ietf:params:jmap:' + name);
  const named = methodCalls.map(([name, args], i) => [name, { accountId: account, ...args }, String(i)]);
  const answer = await fetch(session.apiUrl, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ using, methodCalls: named }),
  });
  const { methodResponses } = await answer.json();
  for (const [name, said] of methodResponses) if (name === 'error') throw new Error(JSON.stringify(said));
  return methodResponses.map(([, said]) => said);
}

async function list() {
  const [, { list: mails }] = await calls(
    ['Email/query', { filter: { inMailbox: folders.inbox }, sort: [{ property: 'receivedAt', isAscending: false }] }],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['subject', 'from'] }],
  );
  const items = mails.map(({ subject, from }) => {
    const item = document.createElement('li');
    item.textContent = from[0].email + ': ' + subject;
    return item;
  });
  document.querySelector('#inbox').replaceChildren(...items);
}

/** The stream of changes by fetch: EventSource sends no credential. */
async function listen() {
  const url = fill(session.eventSourceUrl, { types: 'Email', closeafter: 'no', ping: '30' });
  const answer = await fetch(url, { headers });
  say('listening');
  for await (const text of answer.body.pipeThrough(new TextDecoderStream())) if (text.includes('event: state')) await list();
}

document.querySelector('#login').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { box, user, password } = Object.fromEntries(new FormData(event.target));
  headers = { authorization: 'Basic ' + btoa(user + ':' + password) };
  const answer = await fetch(box + '/.well-known/jmap', { headers });
  if (!answer.ok) return say((await answer.json()).detail);
  session = await answer.json();
  account = session.primaryAccounts['urn:ietf:params:jmap:mail'];
  const [boxes, identities] = await calls(['Mailbox/get', { ids: null }], ['Identity/get', { ids: null }]);
  folders = Object.fromEntries(boxes.list.map(({ role, id }) => [role, id]));
  identity = identities.list[0];
  document.querySelector('#write').hidden = false;
  await list();
  listen();
});

document.querySelector('#write').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { to, subject, text } = Object.fromEntries(new FormData(event.target));
  const mail = {
    mailboxIds: { [folders.drafts]: true },
    keywords: { $draft: true, $seen: true },
    from: [{ email: identity.email }],
    to: [{ email: to }],
    subject,
    bodyValues: { t: { value: text } },
    textBody: [{ partId: 't', type: 'text/plain' }],
  };
  const done = { ['mailboxIds/' + folders.drafts]: null, ['mailboxIds/' + folders.sent]: true, 'keywords/$draft': null };
  const [, sent] = await calls(
    ['Email/set', { create: { mail } }],
    ['EmailSubmission/set', {
      create: { sent: { emailId: '#mail', identityId: identity.id } },
      onSuccessUpdateEmail: { '#sent': done },
    }],
  );
  say(sent.created ? 'sent' : JSON.stringify(sent.notCreated));
});
</script>`;

/** Serves the page from an origin of its own. */
export async function servePage(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    if (request.url !== '/') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
