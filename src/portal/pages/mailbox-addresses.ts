import type { listAliases } from '../../operations/aliases/change.ts';
import type { listSenderRules } from '../../operations/sender-rules/rules.ts';
import { field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  type Page,
  type PageAction,
  operationAction,
  formStateFor,
  collapsedForm,
  type PageState,
  confirmedAction,
} from '../page.ts';
import { address, dateOnly, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import type { MailboxRow } from './mailboxes.ts';

type Alias = OutputOf<typeof listAliases>['aliases'][number];
type Rule = OutputOf<typeof listSenderRules>['rules'][number];

/** Actions on aliases and sender rules of a mailbox. */
export const addressActions: Readonly<Record<string, PageAction>> = {
  alias: operationAction('create_alias', 'aliased', (fields, params) => ({
    mailboxIds: [params['id'] ?? ''],
    localPart: fields.line('localPart'),
    expiresAt: endOf(fields.line('expiresAt')),
    note: fields.line('note'),
  })),
  unalias: operationAction('remove_alias', 'unaliased', ['aliasId']),
  rule: operationAction('add_sender_rule', 'ruled', (fields, params) => ({
    mailboxId: params['id'],
    kind: fields.text('kind'),
    pattern: fields.line('pattern') ?? '',
  })),
  unrule: operationAction('remove_sender_rule', 'unruled', ['ruleId']),
};

/** Aliases and sender rules. */
export const mailboxAddresses: Page = mailboxPage('addresses', {
  actions: addressActions,
  show: async (visit, state, found) =>
    html`${await aliases(visit, state, found)} ${await senders(visit, state, found)}`,
});

/** End of a day such as `2027-01-31`, UTC. */
function endOf(date: string | undefined): string | undefined {
  return date === undefined ? undefined : `${date}T23:59:59Z`;
}

async function aliases(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'list_aliases')) return undefined;
  const listed = await readOperation<typeof listAliases>(visit, 'list_aliases', { mailboxId: one.id, limit: 100 });
  const all = listed?.aliases ?? [];
  const formState = formStateFor(state, 'alias');
  const hint = `The part before @${one.domain}. Empty: a random one. "sales-*" matches a prefix, "*" is the catch-all.`;
  const body = [
    field({ name: 'localPart', label: 'Name', optional: true, hint, id: 'alias-name' }, formState),
    field({ name: 'expiresAt', label: 'Last day', type: 'date', optional: true, id: 'alias-end' }, formState),
    field({ name: 'note', label: 'Note', optional: true, id: 'alias-note' }, formState),
  ];
  return html`<section>
    <h2>Aliases</h2>
    <p>Additional addresses of this mailbox, for example one per website.</p>
    ${all.length > 0 && aliasTable(visit, all)}
    ${isAllowed(visit, 'create_alias') && collapsedForm(visit, state, 'alias', 'Create an alias', 'Create alias', body)}
  </section>`;
}

const ENDED: Readonly<Record<Alias['state'], HtmlPart>> = {
  active: undefined,
  expired: tag('Expired', 'warn'),
  used_up: tag('Used up', 'warn'),
};

function aliasTable(visit: Visit, all: readonly Alias[]): HtmlPart {
  return table(
    'Aliases',
    ['Address', 'Messages', 'First sender', 'Expires', ''],
    all.map((one) => [
      html`${address(one.address)}
      ${ENDED[one.state]}${one.note !== null && html`<br /><span class="small soft">${one.note}</span>`}`,
      one.maxMessages === null ? one.messages : `${one.messages} of ${one.maxMessages}`,
      one.firstSenderDomain ?? '',
      one.expiresAt !== null && dateOnly(one.expiresAt),
      isAllowed(visit, 'remove_alias') &&
        confirmedAction(visit, 'unalias', {
          label: 'Delete',
          question: `Mail to ${one.address} is rejected, unless another alias matches.`,
          yes: 'Delete',
          values: { aliasId: one.id },
        }),
    ]),
  );
}

const KINDS = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Allow' },
];

async function senders(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'list_sender_rules')) return undefined;
  const filter = { mailboxId: one.id, direction: 'in', limit: 100 } as const;
  const all = (await readOperation<typeof listSenderRules>(visit, 'list_sender_rules', filter))?.rules ?? [];
  const formState = formStateFor(state, 'rule');
  const hint = 'An address, a domain, *.domain for its subdomains, or a network such as 192.0.2.0/24.';
  const body = [
    select({ name: 'kind', label: 'Action', choices: KINDS }, formState),
    field({ name: 'pattern', label: 'Sender', hint }, formState),
  ];
  return html`<section>
    <h2>Sender rules</h2>
    <p>Mail from blocked senders is rejected. Authenticated mail from allowed senders is never junk.</p>
    ${all.length > 0 && ruleTable(visit, all)}
    ${isAllowed(visit, 'add_sender_rule') && collapsedForm(visit, state, 'rule', 'Allow or block a sender', 'Save', body)}
  </section>`;
}

function ruleTable(visit: Visit, all: readonly Rule[]): HtmlPart {
  return table(
    'Sender rules',
    ['Sender', 'Action', 'Created', ''],
    all.map((one) => [
      html`<code>${one.pattern}</code>`,
      one.kind === 'block' ? tag('Blocked', 'bad') : tag('Allowed'),
      dateOnly(one.createdAt),
      one.mailboxId === null
        ? html`<span class="small soft">organization rule</span>`
        : isAllowed(visit, 'remove_sender_rule') &&
          confirmedAction(visit, 'unrule', {
            label: 'Delete',
            question: `Mail from ${one.pattern} is filtered normally again.`,
            yes: 'Delete',
            values: { ruleId: one.id },
            calm: true,
          }),
    ]),
  );
}
