import type { revealEmailCredentials, rotateEmailCredentials } from '../../operations/mailboxes/credentials.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
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
import { bytes, backLink, descriptionList, pageHead, timestamp, secret, dateOnly, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { addressActions, ADDRESS_NOTICES, aliases, senders } from './mailbox-addresses.ts';
import { integrationActions, services, webhook } from './mailbox-integrations.ts';
import { type MailboxRow, mailboxStatus } from './mailboxes.ts';
import { deliveryLogLink } from './delivery-log.ts';
import { DELIVERY_NOTICES } from './webhooks.ts';
import type { createAppPassword, listAppPasswordsOf } from '../../operations/mailboxes/app-passwords.ts';
import type { createDeviceLink } from '../../operations/mailboxes/device-link.ts';
import { qrCode } from '../qr-code.ts';
import { endOfDay, expiryField } from './expiry.ts';

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

export const mailbox: Page = {
  path: '/mailboxes/:id',
  name: 'Mailbox',
  menu: null,
  needs: 'list_emails',
  notices: {
    made: 'Mailbox created. Show its password to set up a mail program.',
    changed: 'Changes saved.',
    rotated: 'Password changed. Connections with the old one were closed.',
    revoked: 'App password revoked. Its connections were closed.',
    hooked: 'Webhook deleted. Mail is still delivered to the mailbox.',
    ...DELIVERY_NOTICES,
    ...ADDRESS_NOTICES,
    attached: 'Service attached. It has the variables of this mailbox.',
    detached: 'Service detached. It no longer has the variables of this mailbox.',
  },
  actions: {
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
    change: operationAction('update_email', 'changed', (fields, params) => ({
      ...which(params),
      displayName: fields.line('displayName') ?? null,
    })),
    remove: operationAction(
      'delete_email',
      (_result, visit) => ({ kind: 'done', notice: 'deleted', to: `${visit.base}/mailboxes` }),
      (fields, params) => ({ ...which(params), confirm: fields.text('confirm').trim() }),
    ),
    ...appPasswordActions,
    ...integrationActions,
    ...addressActions,
  },
  async show(visit, state) {
    const found = await find(visit, state.params['id'] ?? '');
    if (found === undefined) return undefined;
    return html`${backLink(`${visit.base}/mailboxes`, 'Mailboxes')}
    ${pageHead(found.address, found.displayName ?? undefined, actionButton(visit, 'reveal', 'Show password', {}, ''))}
    ${descriptionList([
      ['Status', mailboxStatus(found)],
      ['Stored', [bytes(found.usedBytes), found.quotaBytes !== null && ` of ${bytes(found.quotaBytes)}`]],
      ['Created', timestamp(found.createdAt)],
      found.agentPolicyId !== null && ['Agents', html`Governed by a <a href="${visit.base}/agent-policies">policy</a>`],
    ])}
    ${isAllowed(visit, 'trace_message') && deliveryLogLink(visit, found.address)}
    ${isAllowed(visit, 'list_quarantine') && html`<p><a href="${visit.base}/mailboxes/${found.id}/quarantine">Messages hidden from agents</a></p>`}
    ${isAllowed(visit, 'list_deleted_messages') && html`<p><a href="${visit.base}/mailboxes/${found.id}/deleted">Deleted messages</a></p>`}
    ${isAllowed(visit, 'list_canaries') && html`<p><a href="${visit.base}/mailboxes/${found.id}/canaries">Canaries</a></p>`}
    ${setUp(visit, found)} ${device(visit, state)} ${password(visit, state, found)}
    ${await appPasswords(visit, state, found)} ${await aliases(visit, state, found)}
    ${await senders(visit, state, found)} ${await services(visit, state, found)} ${await webhook(visit, state, found)}
    ${changes(visit, state, found)}`;
  },
};

/** Finds a mailbox by id in the paginated list. */
async function find(visit: Visit, id: string): Promise<MailboxRow | undefined> {
  let cursor: string | undefined;
  do {
    const page = cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
    const listed = await readOperation<typeof listEmails>(visit, 'list_emails', page);
    const found = listed?.mailboxes.find((one) => one.id === id);
    if (found !== undefined) return found;
    cursor = listed?.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}

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

function devicePanel({ url, expiresAt }: OutputOf<typeof createDeviceLink>): Html {
  return html`<div class="secret" role="status">
    <h2>Scan this code with the camera of the phone</h2>
    ${qrCode(url)}
    <p class="small soft">Or open this link on the device:</p>
    <output aria-label="Link">${url}</output>
    <p class="small">It works once, until ${timestamp(expiresAt)}.</p>
  </div>`;
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

function changes(visit: Visit, state: PageState, one: MailboxRow): HtmlPart {
  const name = { name: 'displayName', label: 'Name', optional: true, value: one.displayName ?? '' };
  const confirm = { name: 'confirm', label: 'Enter its address to confirm', autocomplete: 'off' };
  const remove = {
    label: 'Delete mailbox',
    question: `Deletes ${one.address} with its mail, passwords, forwards and webhook. You can restore it for 30 days; app passwords and tokens stay revoked.`,
    yes: 'Delete',
    body: field(confirm, formStateFor(state, 'remove')),
  };
  const rename = field(name, formStateFor(state, 'change'));
  return html`<section class="stack">
    <h2>Changes</h2>
    ${isAllowed(visit, 'update_email') && collapsedForm(visit, state, 'change', 'Change the name', 'Save', rename)}
    ${isAllowed(visit, 'delete_email') && html`<div>${confirmedAction(visit, 'remove', remove)}</div>`}
  </section>`;
}
