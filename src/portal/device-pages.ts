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
import { type Translator, translatorOf } from './translator.ts';
import { type PageExchange, type PortalDeps, sendMessagePage, sendPage } from './page-exchange.ts';

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
  const { request } = exchange;
  const t = translatorOf(request);
  const body = html`<h1>${t('device.set-up', { name: link.name })}</h1>
    <p>${t.rich('device.about', { address: html`<strong>${link.address}</strong>` })}</p>
    ${form('profile', t('device.profile'))} ${form('settings', t('device.settings'))}
    <p class="small soft">${t('device.after')}</p>`;
  return sendPage(exchange, narrowPage({ request, title: t('device.title'), body, fromLink: true }), 200, true);
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
  const { request } = exchange;
  const t = translatorOf(request);
  const rows: [string, string][] = [[t('field.password'), password]];
  const body = html`<h1>${t('device.settings-for', { name })}</h1>
    ${secret(t('field.password'), rows, t('device.once'))}
    <dl>
      <dt>${t('device.user-name')}</dt>
      <dd>${address}</dd>
      ${servers(t, t('device.receiving'), imap)} ${servers(t, t('device.sending'), submission)}
      <dt>JMAP</dt>
      <dd>${jmapUrl}</dd>
    </dl>`;
  return sendPage(
    exchange,
    narrowPage({ request, title: t('device.settings-title'), body, fromLink: true }),
    200,
    true,
  );
}

function servers(t: Translator, title: string, [first]: readonly ClientServer[]) {
  if (first === undefined) return undefined;
  const { host, port, tls } = first;
  return html`<dt>${title}</dt>
    <dd>${t('device.server', { host, port: String(port), tls: tls === 'implicit' ? 'TLS' : 'STARTTLS' })}</dd>`;
}

function invalidLink(exchange: PageExchange): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('link.missing'), text: t('device.bad-link'), href: '/', link: t('button.home') };
  return sendMessagePage(exchange, notice, 410);
}

function tooManyPasswords(exchange: PageExchange): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('device.too-many'), text: t('device.too-many-text'), href: '/', link: t('button.home') };
  return sendMessagePage(exchange, notice, 409);
}
