import type { revealEmailCredentials, rotateEmailCredentials } from '../../operations/mailboxes/credentials.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import { field, whosePassword } from '../forms.ts';
import { type Html, html, type Part } from '../html.ts';
import { acting, filledFor, more, type Page, type Params, press, type State, sure } from '../page.ts';
import { bytes, crumb, facts, head, moment, secret } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { addressActs, ADDRESSES_DONE, aliases, senders } from './mailbox-addresses.ts';
import { appPasswordActs, appPasswords } from './mailbox-passwords.ts';
import { linkActs, services, webhook } from './mailbox-links.ts';
import { type Mailbox, mailboxStatus } from './mailboxes.ts';
import { storyLink } from './trace.ts';
import { HISTORY_DONE } from './webhook-history.ts';

const which = (params: Params) => ({ mailboxId: params['id'] });

export const mailbox: Page = {
  path: '/mailboxes/:id',
  name: 'Mailbox',
  menu: null,
  needs: 'list_emails',
  done: {
    made: 'The mailbox is there. Show its password below to set up a mail program.',
    changed: 'The changes are saved.',
    rotated: 'The new password is set. Open connections with the old one were ended.',
    revoked: 'The app password is revoked. Connections that used it were ended.',
    hooked: 'The webhook is removed; mail still lands in the mailbox.',
    ...HISTORY_DONE,
    ...ADDRESSES_DONE,
    attached: 'The service has the variables of this mailbox.',
    detached: 'The service no longer has the variables of this mailbox.',
  },
  acts: {
    reveal: acting(
      'reveal_email_credentials',
      (_fields, params) => which(params),
      (result) => ({
        kind: 'shown',
        panel: profile(result as Answer<typeof revealEmailCredentials>),
      }),
    ),
    rotate: acting(
      'rotate_email_credentials',
      (fields, params) => ({ ...which(params), password: fields.text('password') || undefined, reveal: true }),
      (result) => rotated(result as Answer<typeof rotateEmailCredentials>),
    ),
    change: acting(
      'update_email',
      (fields, params) => ({ ...which(params), displayName: fields.line('displayName') ?? null }),
      () => ({ kind: 'done', said: 'changed' }),
    ),
    remove: acting(
      'delete_email',
      (fields, params) => ({ ...which(params), confirm: fields.text('confirm').trim() }),
      (_result, visit) => ({ kind: 'done', said: 'deleted', to: `${visit.base}/mailboxes` }),
    ),
    ...appPasswordActs,
    ...linkActs,
    ...addressActs,
  },
  async show(visit, state) {
    const found = await find(visit, state.params['id'] ?? '');
    if (found === undefined) return undefined;
    return html`${crumb(`${visit.base}/mailboxes`, 'Mailboxes')}
    ${head(found.address, found.displayName ?? undefined, press(visit, 'reveal', 'Show the password', {}, ''))}
    ${facts([
      ['Mail', mailboxStatus(found)],
      ['Stored', [bytes(found.usedBytes), found.quotaBytes !== null && ` of ${bytes(found.quotaBytes)}`]],
      ['Made', moment(found.createdAt)],
      found.agentPolicyId !== null && [
        'Agents',
        html`under a policy: <a href="${visit.base}/agent-policies">what they may do</a>`,
      ],
    ])}
    ${can(visit, 'trace_message') && storyLink(visit, found.address, 'What happened to its mail')}
    ${can(visit, 'list_quarantine') && html`<p><a href="${visit.base}/mailboxes/${found.id}/withheld">Messages that programs are not shown</a></p>`}
    ${can(visit, 'list_canaries') && html`<p><a href="${visit.base}/mailboxes/${found.id}/canaries">Canaries</a></p>`}
    ${setUp(visit, found)} ${password(visit, state, found)} ${await appPasswords(visit, state, found)}
    ${await aliases(visit, state, found)} ${await senders(visit, state, found)} ${await services(visit, state, found)}
    ${await webhook(visit, state, found)} ${changes(visit, state, found)}`;
  },
};

/** One mailbox out of the listing, which goes on where a page of it ends. */
async function find(visit: Visit, id: string): Promise<Mailbox | undefined> {
  let cursor: string | undefined;
  do {
    const page = cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
    const listed = await read<typeof listEmails>(visit, 'list_emails', page);
    const found = listed?.mailboxes.find((one) => one.id === id);
    if (found !== undefined) return found;
    cursor = listed?.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}

function profile({ imap, smtp, address, imap: { password: value } }: Answer<typeof revealEmailCredentials>): Html {
  const server = ({ host, port, secure }: typeof imap): string =>
    `${host}, port ${port}, ${secure ? 'TLS' : 'STARTTLS'}`;
  return secret(
    `The password of ${address}`,
    [['Password', value]],
    html`User name ${address}. Receiving (IMAP): ${server(imap)}. Sending (SMTP): ${server(smtp)}. That you looked is in
    the audit log.`,
  );
}

function rotated({ password: value }: Answer<typeof rotateEmailCredentials>) {
  if (value === undefined) return { kind: 'done', said: 'rotated' } as const;
  const about = 'Open connections with the old one were ended; attached services have the new one.';
  return { kind: 'shown', panel: secret('The new password', [['Password', value]], about) } as const;
}

function setUp({ world }: Visit, { address }: Mailbox): Html {
  const { settings } = world;
  const ports = world.ports();
  const host = settings.live ? settings.hostname : '127.0.0.1';
  const at = (implicit: string, plain: string): string =>
    ports[implicit] === undefined
      ? `${host}, port ${ports[plain] ?? 'closed'}, STARTTLS`
      : `${host}, port ${ports[implicit]}, TLS`;
  return html`<section>
    <h2>Mail programs</h2>
    ${facts([
      ['User name', address],
      ['Receiving (IMAP)', at('imaps', 'imap')],
      ['Sending (SMTP)', at('submissions', 'submission')],
    ])}
  </section>`;
}

function password(visit: Visit, state: State, one: Mailbox): Part {
  if (!can(visit, 'rotate_email_credentials')) return undefined;
  const input = {
    name: 'password',
    label: 'New password',
    type: 'password',
    optional: true,
    minlength: 12,
    autocomplete: 'new-password',
    id: 'mailbox-password',
    hint: 'Leave it empty to have a strong one made, which is shown to you.',
  } as const;
  const body = [whosePassword(one.address), field(input, filledFor(state, 'rotate'))];
  return html`<section>
    <h2>Password</h2>
    <p>Every program of ${one.address} needs the new one, except those with app passwords.</p>
    ${more(visit, state, 'rotate', 'Set a new password', 'Set the password', body)}
  </section>`;
}

function changes(visit: Visit, state: State, one: Mailbox): Part {
  const name = { name: 'displayName', label: 'Name', optional: true, value: one.displayName ?? '' };
  const confirm = { name: 'confirm', label: 'Its address, to be sure', autocomplete: 'off' };
  const remove = {
    label: 'Delete the mailbox',
    question: `All mail in ${one.address} is gone, with its passwords, forwards and webhook. There is no undo.`,
    yes: 'Delete it for good',
    body: field(confirm, filledFor(state, 'remove')),
  };
  const rename = field(name, filledFor(state, 'change'));
  return html`<section class="stack">
    <h2>Changes</h2>
    ${can(visit, 'update_email') && more(visit, state, 'change', 'Change the name', 'Save', rename)}
    ${can(visit, 'delete_email') && html`<div>${sure(visit, 'remove', remove)}</div>`}
  </section>`;
}
