import type { createAppPassword, listAppPasswordsOf } from '../../operations/mailboxes/app-passwords.ts';
import type { revealEmailCredentials, rotateEmailCredentials } from '../../operations/mailboxes/credentials.ts';
import type { createDeviceLink } from '../../operations/mailboxes/device-link.ts';
import { field, usernameField, checkboxes } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import {
  operationAction,
  formStateFor,
  collapsedForm,
  type Page,
  type Params,
  actionButton,
  type PageState,
  confirmedAction,
  type PageAction,
} from '../page.ts';
import { descriptionList, secret, dateOnly, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { devicePanel } from './device-panel.ts';
import { endOfDay, expiryField } from './expiry.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import type { MailboxRow } from './mailboxes.ts';

const appPasswordActions: Readonly<Record<string, PageAction>> = {
  'make-app': operationAction(
    'create_app_password',
    (result, { request }) => {
      const t = translatorOf(request);
      const { password, appPassword } = result as OutputOf<typeof createAppPassword>;
      return {
        kind: 'shown',
        panel: secret(
          t('access.app-made', { name: appPassword.name }),
          [[t('field.password'), password]],
          t('access.app-once'),
        ),
      };
    },
    (fields, params) => ({
      ...which(params),
      name: fields.line('name') ?? '',
      scopes: fields.list('scopes'),
      readOnly: fields.text('readOnly') === 'true',
      person: fields.text('person') === 'true',
      expiresAt: endOfDay(fields.line('expiresAt')),
    }),
  ),
  device: operationAction(
    'create_device_link',
    (result, { request }) => ({
      kind: 'shown',
      panel: devicePanel(translatorOf(request), result as OutputOf<typeof createDeviceLink>),
    }),
    (fields, params) => ({ ...which(params), name: fields.line('name') ?? '' }),
  ),
  'revoke-app': operationAction('revoke_app_password', 'revoked', (fields, params) => ({
    ...which(params),
    appPasswordId: fields.text('appPasswordId'),
  })),
};

const PROTOCOLS = { imap: 'IMAP', smtp: 'SMTP', jmap: 'JMAP' } as const;

/** App passwords of a mailbox, one per program. */
async function appPasswords(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  const listed = await readOperation<typeof listAppPasswordsOf>(visit, 'list_app_passwords', { mailboxId: one.id });
  if (listed === undefined) return undefined;
  const t = translatorOf(visit.request);
  return html`<section>
    <h2>${t('access.app-passwords')}</h2>
    <p>${t('access.app-about')}</p>
    ${listed.appPasswords.length > 0 && list(t, visit, listed.appPasswords)}
    ${
      isAllowed(visit, 'create_app_password') &&
      collapsedForm(visit, state, 'make-app', t('access.app-create'), t('access.create'), inputs(t, state))
    }
  </section>`;
}

function list(t: Translator, visit: Visit, all: OutputOf<typeof listAppPasswordsOf>['appPasswords']): HtmlPart {
  return table(
    t('access.app-passwords'),
    [t('account.name'), t('access.protocols'), t('devices.last-used'), t('access.expires'), ''],
    all.map(({ id, name, scopes, readOnly, person, lastUsedAt, expiresAt }) => [
      name,
      [
        scopes.map((one) => PROTOCOLS[one]).join(', '),
        ' ',
        readOnly && tag(t('access.read-only')),
        ' ',
        person && tag(t('access.person')),
      ],
      lastUsedAt === null ? html`<span>${t('devices.never')}</span>` : dateOnly(lastUsedAt, t),
      expiresAt === null ? t('devices.never') : dateOnly(expiresAt, t),
      confirmedAction(visit, 'revoke-app', {
        label: t('devices.revoke'),
        question: t('access.revoke-question', { name }),
        yes: t('devices.revoke'),
        values: { appPasswordId: id },
      }),
    ]),
    t,
  );
}

function inputs(t: Translator, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'make-app');
  const scopes = Object.entries(PROTOCOLS).map(([value, label]) => ({ value, label }));
  const readOnly = [{ value: 'true', label: t('access.read-only') }];
  const person = [{ value: 'true', label: t('access.a-person'), hint: t('access.person-hint') }];
  const name = { name: 'name', label: t('account.name'), id: 'app-name', hint: t('access.app-hint') };
  return html`${field(name, formState)}
  ${checkboxes({ name: 'scopes', label: t('access.protocols'), choices: scopes, ticked: ['imap', 'smtp'] }, formState)}
  ${checkboxes({ name: 'readOnly', label: t('access.limits'), choices: readOnly }, formState)}
  ${checkboxes({ name: 'person', label: t('access.user'), choices: person, ticked: ['true'] }, formState)}
  ${expiryField('app-expires', formState, t)}`;
}

const which = (params: Params) => ({ mailboxId: params['id'] });

/** Actions on the passwords of a mailbox. */
export const accessActions: Readonly<Record<string, PageAction>> = {
  ...appPasswordActions,
  reveal: operationAction(
    'reveal_email_credentials',
    (result, { request }) => ({
      kind: 'shown',
      panel: profile(translatorOf(request), result as OutputOf<typeof revealEmailCredentials>),
    }),
    (_fields, params) => which(params),
  ),
  rotate: operationAction(
    'rotate_email_credentials',
    (result, { request }) => rotated(translatorOf(request), result as OutputOf<typeof rotateEmailCredentials>),
    (fields, params) => ({ ...which(params), password: fields.text('password') || undefined, reveal: true }),
  ),
};

/** Passwords, app passwords and settings for mail programs. */
export const mailboxAccess: Page = mailboxPage('access', {
  translated: true,
  actions: accessActions,
  show: async (visit, state, found) => {
    const t = translatorOf(visit.request);
    return html`${setUp(t, visit, found)}
    ${isAllowed(visit, 'reveal_email_credentials') && html`<p>${actionButton(visit, 'reveal', t('access.show-password'), {}, 'quiet')}</p>`}
    ${device(t, visit, state)} ${password(t, visit, state, found)} ${await appPasswords(visit, state, found)}`;
  },
});

/** Setup of a phone: a link as QR code, which creates an app password for that device. */
function device(t: Translator, visit: Visit, state: PageState): HtmlPart {
  if (!isAllowed(visit, 'create_device_link')) return undefined;
  const name = { name: 'name', label: t('devices.device'), id: 'device-name', hint: t('setup.device-hint') };
  return html`<section>
    <h2>${t('access.phone')}</h2>
    <p>${t('access.phone-about')}</p>
    ${collapsedForm(visit, state, 'device', t('access.create-link'), t('access.create'), field(name, formStateFor(state, 'device')))}
  </section>`;
}

function profile(
  t: Translator,
  { imap, smtp, address, imap: { password: value } }: OutputOf<typeof revealEmailCredentials>,
): Html {
  const server = ({ host, port, secure }: typeof imap): string => serverText(t, host, port, secure);
  return secret(
    t('access.password-of', { address }),
    [[t('field.password'), value]],
    t('access.profile', { address, imap: server(imap), smtp: server(smtp) }),
  );
}

/** Ports are names here: they get no separators. */
function serverText(t: Translator, host: string, port: number | string, secure: boolean): string {
  return t('access.server', { host, port: String(port), security: secure ? 'TLS' : 'STARTTLS' });
}

function rotated(t: Translator, { password: value }: OutputOf<typeof rotateEmailCredentials>) {
  if (value === undefined) return { kind: 'done', notice: 'rotated' } as const;
  const panel = secret(t('access.new-password'), [[t('field.password'), value]], t('access.new-password-about'));
  return { kind: 'shown', panel } as const;
}

function setUp(t: Translator, { context }: Visit, { address }: MailboxRow): Html {
  const { settings } = context;
  const ports = context.ports();
  const host = settings.live ? settings.hostname : '127.0.0.1';
  const at = (implicit: string, plain: string): string =>
    ports[implicit] === undefined
      ? serverText(t, host, ports[plain] ?? t('access.closed'), false)
      : serverText(t, host, ports[implicit], true);
  return html`<section>
    <h2>${t('access.programs')}</h2>
    ${descriptionList([
      [t('access.user-name'), address],
      [t('access.receiving'), at('imaps', 'imap')],
      [t('access.sending'), at('submissions', 'submission')],
    ])}
  </section>`;
}

function password(t: Translator, visit: Visit, state: PageState, one: MailboxRow): HtmlPart {
  if (!isAllowed(visit, 'rotate_email_credentials')) return undefined;
  const input = {
    name: 'password',
    label: t('field.new-password'),
    type: 'password',
    optional: t('field.optional'),
    minlength: 12,
    autocomplete: 'new-password',
    id: 'mailbox-password',
    hint: t('access.password-hint'),
  } as const;
  const body = [usernameField(one.address), field(input, formStateFor(state, 'rotate'))];
  return html`<section>
    <h2>${t('field.password')}</h2>
    <p>${t('access.password-about', { address: one.address })}</p>
    ${collapsedForm(visit, state, 'rotate', t('access.set-new'), t('button.set-password'), body)}
  </section>`;
}
