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
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { devicePanel } from './device-panel.ts';
import { endOfDay, expiryField } from './expiry.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import type { MailboxRow } from './mailboxes.ts';

const appPasswordActions: Readonly<Record<string, PageAction>> = {
  'make-app': operationAction(
    'create_app_password',
    (result) => {
      const { password, appPassword } = result as OutputOf<typeof createAppPassword>;
      const about = 'Shown only once. Use it in one program only, so that you can revoke it separately.';
      return {
        kind: 'shown',
        panel: secret(`The app password for ${appPassword.name}`, [['Password', password]], about),
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
    (result) => ({ kind: 'shown', panel: devicePanel(result as OutputOf<typeof createDeviceLink>) }),
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
  return html`<section>
    <h2>App passwords</h2>
    <p>One per program or device. Each can be limited and revoked separately.</p>
    ${listed.appPasswords.length > 0 && list(visit, listed.appPasswords)}
    ${
      isAllowed(visit, 'create_app_password') &&
      collapsedForm(visit, state, 'make-app', 'Create an app password', 'Create', inputs(state))
    }
  </section>`;
}

function list(visit: Visit, all: OutputOf<typeof listAppPasswordsOf>['appPasswords']): HtmlPart {
  return table(
    'App passwords',
    ['Name', 'Protocols', 'Last used', 'Expires', ''],
    all.map(({ id, name, scopes, readOnly, person, lastUsedAt, expiresAt }) => [
      name,
      [scopes.map((one) => PROTOCOLS[one]).join(', '), ' ', readOnly && tag('Read only'), ' ', person && tag('Person')],
      lastUsedAt === null ? html`<span>Never</span>` : dateOnly(lastUsedAt),
      expiresAt === null ? '' : dateOnly(expiresAt),
      confirmedAction(visit, 'revoke-app', {
        label: 'Revoke',
        question: `${name} is disconnected at once.`,
        yes: 'Revoke',
        values: { appPasswordId: id },
      }),
    ]),
  );
}

const PERSON = [{ value: 'true', label: 'A person', hint: 'agent policies do not apply' }];

function inputs(state: PageState): HtmlPart {
  const formState = formStateFor(state, 'make-app');
  const scopes = Object.entries(PROTOCOLS).map(([value, label]) => ({ value, label }));
  return html`${field({ name: 'name', label: 'Name', id: 'app-name', hint: 'The program or device, such as "phone".' }, formState)}
  ${checkboxes({ name: 'scopes', label: 'Protocols', choices: scopes, ticked: ['imap', 'smtp'] }, formState)}
  ${checkboxes({ name: 'readOnly', label: 'Limits', choices: [{ value: 'true', label: 'Read only' }] }, formState)}
  ${checkboxes({ name: 'person', label: 'User', choices: PERSON, ticked: ['true'] }, formState)}
  ${expiryField('app-expires', formState)}`;
}

const which = (params: Params) => ({ mailboxId: params['id'] });

/** Actions on the passwords of a mailbox. */
export const accessActions: Readonly<Record<string, PageAction>> = {
  ...appPasswordActions,
  reveal: operationAction(
    'reveal_email_credentials',
    (result) => ({
      kind: 'shown',
      panel: profile(result as OutputOf<typeof revealEmailCredentials>),
    }),
    (_fields, params) => which(params),
  ),
  rotate: operationAction(
    'rotate_email_credentials',
    (result) => rotated(result as OutputOf<typeof rotateEmailCredentials>),
    (fields, params) => ({ ...which(params), password: fields.text('password') || undefined, reveal: true }),
  ),
};

/** Passwords, app passwords and settings for mail programs. */
export const mailboxAccess: Page = mailboxPage('access', {
  notices: {
    rotated: 'Password changed. Connections with the old one were closed.',
    revoked: 'App password revoked. Its connections were closed.',
  },
  actions: accessActions,
  show: async (visit, state, found) =>
    html`${setUp(visit, found)}
    ${isAllowed(visit, 'reveal_email_credentials') && html`<p>${actionButton(visit, 'reveal', 'Show password', {}, 'quiet')}</p>`}
    ${device(visit, state)} ${password(visit, state, found)} ${await appPasswords(visit, state, found)}`,
});

/** Set-up of a phone: a link as QR code, which creates an app password for that device. */
function device(visit: Visit, state: PageState): HtmlPart {
  if (!isAllowed(visit, 'create_device_link')) return undefined;
  const name = { name: 'name', label: 'Device', id: 'device-name', hint: 'Such as "phone of Kim".' };
  return html`<section>
    <h2>Set up a phone</h2>
    <p>Creates a link that sets up one device, with an app password of its own. It works once, within an hour.</p>
    ${collapsedForm(visit, state, 'device', 'Create a link', 'Create', field(name, formStateFor(state, 'device')))}
  </section>`;
}

function profile({ imap, smtp, address, imap: { password: value } }: OutputOf<typeof revealEmailCredentials>): Html {
  const server = ({ host, port, secure }: typeof imap): string =>
    `${host}, port ${port}, ${secure ? 'TLS' : 'STARTTLS'}`;
  return secret(
    `The password of ${address}`,
    [['Password', value]],
    html`User name ${address}. Receiving (IMAP): ${server(imap)}. Sending (SMTP): ${server(smtp)}. This view is recorded
    in the audit log.`,
  );
}

function rotated({ password: value }: OutputOf<typeof rotateEmailCredentials>) {
  if (value === undefined) return { kind: 'done', notice: 'rotated' } as const;
  const about = 'Connections with the old one were closed. Attached services have the new one.';
  return { kind: 'shown', panel: secret('The new password', [['Password', value]], about) } as const;
}

function setUp({ context }: Visit, { address }: MailboxRow): Html {
  const { settings } = context;
  const ports = context.ports();
  const host = settings.live ? settings.hostname : '127.0.0.1';
  const at = (implicit: string, plain: string): string =>
    ports[implicit] === undefined
      ? `${host}, port ${ports[plain] ?? 'closed'}, STARTTLS`
      : `${host}, port ${ports[implicit]}, TLS`;
  return html`<section>
    <h2>Mail programs</h2>
    ${descriptionList([
      ['User name', address],
      ['Receiving (IMAP)', at('imaps', 'imap')],
      ['Sending (SMTP)', at('submissions', 'submission')],
    ])}
  </section>`;
}

function password(visit: Visit, state: PageState, one: MailboxRow): HtmlPart {
  if (!isAllowed(visit, 'rotate_email_credentials')) return undefined;
  const input = {
    name: 'password',
    label: 'New password',
    type: 'password',
    optional: true,
    minlength: 12,
    autocomplete: 'new-password',
    id: 'mailbox-password',
    hint: 'Empty: a strong password is created and shown to you.',
  } as const;
  const body = [usernameField(one.address), field(input, formStateFor(state, 'rotate'))];
  return html`<section>
    <h2>Password</h2>
    <p>All programs of ${one.address} need the new password, except those with app passwords.</p>
    ${collapsedForm(visit, state, 'rotate', 'Set a new password', 'Set password', body)}
  </section>`;
}
