import type { FastifyInstance, FastifyReply } from 'fastify';
import { generatePassword } from '../../mail/login/password.ts';
import { PERSON } from '../../mail/store/actor.ts';
import { accountSalt } from '../../mail/store/account/credential.ts';
import { appCredential, SCOPES } from '../accounts/new-credential.ts';
import { clientSettings, type ClientServer } from '../client-setup/client-settings.ts';
import { type DeviceLink, openDeviceLink, useDeviceLink } from '../client-setup/device-commands.ts';
import { mobileConfig } from '../client-setup/mobileconfig.ts';
import { hashOf } from '../people/secrets.ts';
import { secret } from './components.ts';
import { hidden } from './forms.ts';
import { Fields } from './form-fields.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { linkToken } from './link-errors.ts';
import { type PageExchange, type PortalDeps, sendNotice, sendPage } from './page-exchange.ts';

/** `/auth/device`: the page behind a link that sets up a device. GET does not use it up, as previews open links. */
export function deviceRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/device', (request, reply) => show({ ...deps, request, reply }));
    app.post('/auth/device', (request, reply) => setUp({ ...deps, request, reply }));
  };
}

async function show(exchange: PageExchange): Promise<FastifyReply> {
  const token = linkToken(exchange);
  const link = await linkOf(exchange, token);
  if (link === undefined) return invalidLink(exchange);
  const form = (use: string, label: string) =>
    html`<form class="plain" method="post" action="/auth/device">
      ${hidden('token', token)} ${hidden('use', use)}
      <button>${label}</button>
    </form>`;
  const body = html`<h1>Set up ${link.name}</h1>
    <p>
      Adds the mailbox <strong>${link.address}</strong> to this device, with a password of its own. The link works once.
    </p>
    ${form('profile', 'iPhone, iPad or Mac: download the profile')}
    ${form('settings', 'Another device: show the settings')}
    <p class="small soft">After the download: Settings, Profile Downloaded, Install.</p>`;
  return sendPage(exchange, narrowPage({ title: 'Set up a device', body, fromLink: true }), 200, true);
}

async function setUp(exchange: PageExchange): Promise<FastifyReply> {
  const fields = new Fields(exchange.request.body);
  const link = await linkOf(exchange, fields.text('token'));
  const password = link === undefined ? undefined : await useUp(exchange, fields.text('token'), link);
  if (link === undefined || password === undefined) return invalidLink(exchange);
  if (password === 'too-many') return tooManyPasswords(exchange);
  const settings = clientSettings(exchange.context);
  const account = { address: link.address, name: '', password: password.text };
  const profile = fields.text('use') === 'profile' ? mobileConfig(account, settings) : undefined;
  if (profile === undefined) return showSettings(exchange, link, password.text);
  return exchange.reply
    .type('application/x-apple-aspen-config')
    .header('content-disposition', 'attachment; filename="mail.mobileconfig"')
    .send(exchange.context.signDocument(Buffer.from(profile)));
}

async function linkOf({ context }: PageExchange, token: string): Promise<DeviceLink | undefined> {
  const hash = hashOf(token);
  return hash === undefined ? undefined : context.store.read(openDeviceLink, { hash, now: context.clock() });
}

/** Creates the password of the device; undefined if the link was used meanwhile. */
async function useUp(
  { context, request }: PageExchange,
  token: string,
  { account, name }: DeviceLink,
): Promise<{ text: string } | 'too-many' | undefined> {
  const { store } = context;
  const [hash, known] = [hashOf(token), await store.read(accountSalt, { account })];
  const text = generatePassword();
  const row = { name, scopes: [...SCOPES, PERSON], expiresAt: null };
  const credential = known && (await appCredential({ password: text, ...known }, row));
  if (hash === undefined || credential === undefined) return undefined;
  const done = await store.write(useDeviceLink, { hash, credential, ip: request.ip });
  if (done.kind === 'too-many') return 'too-many';
  return done.kind === 'added' ? { text } : undefined;
}

function showSettings(exchange: PageExchange, { address, name }: DeviceLink, password: string): FastifyReply {
  const { imap, submission, jmapUrl } = clientSettings(exchange.context);
  const about = 'Shown only once, and for this device only: enter it now.';
  const rows: [string, string][] = [['Password', password]];
  const body = html`<h1>Settings for ${name}</h1>
    ${secret('Password', rows, about)}
    <dl>
      <dt>User name</dt>
      <dd>${address}</dd>
      ${servers('Receiving (IMAP)', imap)} ${servers('Sending (SMTP)', submission)}
      <dt>JMAP</dt>
      <dd>${jmapUrl}</dd>
    </dl>`;
  return sendPage(exchange, narrowPage({ title: 'Settings', body, fromLink: true }), 200, true);
}

function servers(title: string, [first]: readonly ClientServer[]) {
  if (first === undefined) return undefined;
  const { host, port, tls } = first;
  return html`<dt>${title}</dt>
    <dd>${host}, port ${port}, ${tls === 'implicit' ? 'TLS' : 'STARTTLS'}</dd>`;
}

function invalidLink(exchange: PageExchange): FastifyReply {
  const text = 'The link was used, has expired, or is incomplete. Create another one on the page of the mailbox.';
  return sendNotice(exchange, { title: 'Invalid link', text, href: '/', link: 'Home' }, 410);
}

function tooManyPasswords(exchange: PageExchange): FastifyReply {
  const text = 'The mailbox has 50 passwords, which is the limit. Revoke one on its page, then open the link again.';
  return sendNotice(exchange, { title: 'Too many passwords', text, href: '/', link: 'Home' }, 409);
}
